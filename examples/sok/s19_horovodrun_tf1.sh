#!/usr/bin/env bash
# S19: runs s18_horovod_loop_tf1.py, or PROGRAM, under Horovod:  NP=2 bash s19_horovodrun_tf1.sh [PROGRAM] [ARGUMENTS...]
set -euo pipefail
here="$(dirname "$0")"
case "${1:-}" in
  "" | -*) set -- "$here/s18_horovod_loop_tf1.py" "$@" ;;
esac
exec bash "$here/s14_horovodrun.sh" "$@"
