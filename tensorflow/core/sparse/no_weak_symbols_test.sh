#!/bin/sh
# Fails if an archive given as argument defines a weak symbol or has start-up code.
set -eu
[ $# -ge 2 ] || { echo "expected at least two archives, got $#"; exit 1; }
for archive in "$@"; do
  symbols=$(nm "$archive")
  echo "$symbols" | grep -q 'Kernels' || { echo "$archive: no kernel table, wrong file?"; exit 1; }
  if echo "$symbols" | grep -E ' [VvWwu] |_GLOBAL__sub_I'; then
    echo "$archive: weak symbols or start-up code, see above"
    exit 1
  fi
done
