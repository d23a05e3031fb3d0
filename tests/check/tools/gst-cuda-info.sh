#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# gst-cuda-info.sh PROGRAM : exit codes, messages and JSON, with a device and without one.
set -euo pipefail
program=$1
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
failures=0

# expect CODE TEXT ARG... : the exit code, and text somewhere in the output or the error output
expect() {
  local code=$1 text=$2 got=0
  shift 2
  "$program" "$@" > "$temp/out" 2> "$temp/err" || got=$?
  if [[ $got != "$code" ]] || ! grep -qE -e "$text" "$temp/out" "$temp/err"; then
    printf 'FAIL: gst-cuda-info %s: exit code %s, expected %s and /%s/ in:\n' "$*" "$got" "$code" "$text"
    cat "$temp/out" "$temp/err"
    failures=$((failures + 1))
  fi
}
# expect_json EXPRESSION : what must hold for the JSON that the last program printed, as `report`
expect_json() {
  python3 -c "
import json, sys
report = json.load(sys.stdin)
assert $1, report
" < "$temp/out" || { echo "FAIL: JSON: $1"; failures=$((failures + 1)); }
}

expect 0 'EXIT STATUS' --help
expect 2 'nknown option.*--no-such' --no-such
expect 2 "argument 'word'" word
expect 2 'integer' --device=x
expect 2 'exclude' --device 0 --reset 0

# The same without any device, whatever this machine has.
export CUDA_VISIBLE_DEVICES=-1
expect 3 'gst-cuda-info: (no NVIDIA driver|an NVIDIA driver is here|the NVIDIA driver is too old|this is a build without CUDA)'
expect 3 'OpenCV +4\.' --device 0
expect 3 '' --reset 0
expect 3 '' --json
expect_json "report['devices'] == [] and report['error'] and report['build']['opencv']"
unset CUDA_VISIBLE_DEVICES

if "$program" > /dev/null 2>&1; then
  expect 0 'runs this build +(yes|no)'
  expect 0 '' --json
  expect_json "'error' not in report and all(d['multiprocessors'] > 0 and d['memory_total'] > 0 for d in report['devices'])"
  expect_json "[d['index'] for d in report['devices']] == list(range(len(report['devices'])))"
  expect 0 'device +0' --device 0
  expect 0 'device that was reset +0' --reset 0
  expect 2 'no device 99: the devices here are 0 to' --device 99
  expect 2 'no device -1' --device=-1
fi
((failures == 0))
