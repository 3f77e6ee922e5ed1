#!/usr/bin/env bash
# S14: runs s13_horovod_loop.py, or PROGRAM, under Horovod:  NP=2 bash s14_horovodrun.sh [PROGRAM] [ARGUMENTS...]
set -euo pipefail
np="${NP:-2}"
case "${1:-}" in
  "" | -*) set -- "$(dirname "$0")/s13_horovod_loop.py" "$@" ;;
esac
# The default of 1 ms between two looks at what is to be sent costs more than sending it.
HOROVOD_CYCLE_TIME="${HOROVOD_CYCLE_TIME:-0}" exec horovodrun -np "$np" -H "localhost:$np" --gloo python3 "$@"
