#!/usr/bin/env bash
# Sets everything up, builds, and runs all tests: C++ plain and under sanitizers, then Python against the installed
# wheel. Arguments go to pytest; with any, only the Python tests run.
source "$(dirname "$0")/lib.sh"

# What builds Horovod, unless the cache folder has it.
APT_PACKAGES+=("cmake:command:cmake" "make:command:make")
install_packages
say "Configuring"
configure --self_contained

if [ $# = 0 ]; then
  say "C++ tests"
  (cd "$ROOT" && bazel test //tensorflow/... //third_party/... //tools/...)
  say "C++ tests of the cores under address and undefined-behaviour sanitizers"
  (cd "$ROOT" && bazel test --config=asan //tensorflow/core/sparse/... //tensorflow/core/embedding/... //tensorflow/core/boosted_trees/... //tensorflow/core/contrib/... //tensorflow/core/stage/... //tensorflow/core/fusion/... //tensorflow/core/work_queue/... //tensorflow/core/columnar/... //tensorflow/core/recurrent/... //tensorflow/core/nn/... //tensorflow/core/kafka/...)
  say "The table of EmbeddingVariables and the buffers of stages under the thread sanitizer"
  (cd "$ROOT" && bazel test --config=tsan //tensorflow/core/embedding:table_concurrency_test //tensorflow/core/embedding:table_recording_test //tensorflow/core/stage/...)
fi

say "Building the wheels"
bazel_build //tools/pip_package:wheel //tools/pip_package:wheel_self_contained

say "Installing the wheel into a clean .build/test"
rm -rf "$BUILD_DIR/test"
make_venv test
# In one call: in a second one, pip would not ask the wheel which NumPy it takes.
pip_install test "$(wheel_path)" -r "$ROOT/tests/requirements.txt" -r "$ROOT/modelzoo/requirements.txt"

say "Installing Horovod, built once for a TensorFlow and Python (5 minutes on two cores)"
"$BUILD_DIR/test/bin/tf-deeprec-horovod" --install

say "Fetching two releases of deepctr, as they are"
for release in 0.9.3 0.9.4; do
  pip_install test --no-deps --upgrade --target "$BUILD_DIR/deepctr/$release" "deepctr==$release"
done

say "Installing the released TensorFlow into .build/stock, for comparison"
make_venv stock
pip_install stock "$("$BUILD_DIR/tools/bin/python" "$ROOT/ci/released_wheel.py")" 'numpy<2'

say "Python tests"
export DEEPREC_TEST_STOCK_PYTHON="$BUILD_DIR/stock/bin/python"
export DEEPREC_TEST_DEEPCTR="$BUILD_DIR/deepctr"
export DEEPREC_TEST_WHEEL="$(wheel_path)"
export DEEPREC_TEST_SELF_CONTAINED_WHEEL="$(wheel_path self_contained/)"
# Not from the root: there the sources' `tensorflow` folder would be imported instead of the installed package.
cd "$ROOT/tests"
# Two files at a time: with more, tests of several processes starve each other on two cores.
exec "$BUILD_DIR/test/bin/python" -m pytest -q -n 2 --dist loadfile "$@"
