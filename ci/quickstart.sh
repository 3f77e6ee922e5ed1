#!/usr/bin/env bash
# Sets everything up, builds the wheel, installs it into .build/venv and trains wide_and_deep on a generated data set.
# Arguments go to the training script.
source "$(dirname "$0")/lib.sh"

install_packages
say "Configuring"
configure
say "Building the wheel"
bazel_build //tools/pip_package:wheel
say "Installing it into .build/venv"
make_venv venv
pip_install venv --force-reinstall --no-deps "$(wheel_path)"
pip_install venv "$(wheel_path)" -r "$ROOT/modelzoo/requirements.txt"
say "Training wide_and_deep"
"$BUILD_DIR/venv/bin/python" "$ROOT/modelzoo/wide_and_deep/train.py" --output_dir "$BUILD_DIR/wide_and_deep" --restart "$@"
