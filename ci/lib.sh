# Shared by the scripts in this folder; source it. Everything that they make lies in .build/ and in the cache folder of
# configure.py.
set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BUILD_DIR="$ROOT/.build"
PYTHON=${DEEPREC_PYTHON:-python3}

say() { printf '\n== %s\n' "$*"; }

# Debian packages that a build needs, each with a command or file that shows it is there.
APT_PACKAGES=(
  "g++:command:g++"
  "bazel-bootstrap:command:bazel"
  "googletest:file:/usr/src/googletest/googletest/src/gtest-all.cc"
  "python3:command:$PYTHON"
  "python3-venv:ensurepip:"
)

missing_packages() {
  local entry package kind what
  for entry in "${APT_PACKAGES[@]}"; do
    IFS=: read -r package kind what <<<"$entry"
    case $kind in
      command) command -v "$what" >/dev/null || echo "$package" ;;
      file) [ -e "$what" ] || echo "$package" ;;
      ensurepip) "$PYTHON" -c 'import ensurepip, venv' 2>/dev/null || echo "$package" ;;
    esac
  done
}

# Installs what is missing, as root; otherwise says what to install and stops.
install_packages() {
  local packages
  packages=$(missing_packages | tr '\n' ' ')
  [ -n "$packages" ] || return 0
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "Missing: $packages. Install it (Debian 12: sudo apt-get install $packages) and run this again." >&2
    exit 1
  fi
  say "Installing $packages"
  apt-get update -qq
  # shellcheck disable=SC2086
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages >/dev/null
}

# A virtual environment in .build/NAME; prints nothing if it is there.
make_venv() {
  local folder="$BUILD_DIR/$1"
  if ! "$folder/bin/python" -m pip --version >/dev/null 2>&1; then
    rm -rf "$folder"
    mkdir -p "$BUILD_DIR"
    "$PYTHON" -m venv "$folder"
  fi
}

pip_install() {
  local venv=$1
  shift
  "$BUILD_DIR/$venv/bin/python" -m pip install --quiet --disable-pip-version-check "$@"
}

# Configures with the Python of .build/tools, which is sure to have pip.
configure() {
  make_venv tools
  (cd "$ROOT" && "$BUILD_DIR/tools/bin/python" configure.py "$@")
}

bazel_build() { (cd "$ROOT" && bazel build "$@"); }

wheel_path() { ls "$ROOT"/bazel-bin/tools/pip_package/"${1:-}"tensorflow-*.whl; }
