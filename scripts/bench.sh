#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Runs the built benchmarks and makes a page of what they measured. Needs neither meson nor the sources' set-up, so that
# it also runs where only the build folder was carried to.
#
#   scripts/bench.sh BUILD OUT [NAME...]
#
# BUILD  the build folder
# OUT    gets results.tsv, machine.txt, the page performance.md and its pictures
# NAME   which benchmarks, such as kernel-canny or chain (default: all)
#
# BENCH_VIDEO names an H.264 file in MP4 for the benchmark `video`; 1920x1080, ten seconds or more, says most.
set -euo pipefail
[[ $# -ge 2 && -d $1/tests/bench ]] || { sed -n 's/^#   scripts/usage: scripts/p' "$0" >&2; exit 2; }
here=$(dirname "$(readlink -f "$0")")
build=$(cd "$1" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)
shift 2
names=("$@")
if ((${#names[@]} == 0)); then
  for program in "$build"/tests/bench/bench-*; do
    if [[ -f $program && -x $program ]]; then names+=("${program##*/bench-}"); fi
  done
fi
export BENCH_RESULTS=$out/results.tsv GST_PLUGIN_PATH=$build/gst${GST_PLUGIN_PATH:+:$GST_PLUGIN_PATH}
rm -f "$BENCH_RESULTS"

first() { "$@" 2> /dev/null | head -n 1; }
{
  printf 'GPU\t%s\n' "$(first nvidia-smi --query-gpu=name,clocks.max.sm,clocks.max.mem --format=csv,noheader || true)"
  printf 'Driver\t%s\n' "$(first nvidia-smi --query-gpu=driver_version --format=csv,noheader || true)"
  printf 'CPU\t%s, %s cores\n' "$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1)" "$(nproc)"
  { "$build/tools/gst-cuda-info" 2> /dev/null || true; } | sed -n "s/^\(OpenCV\|CUDA runtime\|CUDA of the driver\)  *\([0-9n].*\)/\1\t\2/p"
  printf 'Plugin\t%s\n' "${BENCH_COMMIT:-$(first git -C "$here" describe --always --dirty || true)}"
} > "$out/machine.txt"

failed=()
for name in "${names[@]}"; do
  echo "== $name"
  arguments=()
  [[ $name != video ]] || arguments=("${BENCH_VIDEO:-}")
  status=0
  "$build/tests/bench/bench-$name" "${arguments[@]}" || status=$?
  ((status == 0 || status == 77)) || failed+=("$name")
done
printf 'Clock after the run\t%s\n' "$(first nvidia-smi --query-gpu=clocks.sm,temperature.gpu,power.draw --format=csv,noheader || true)" >> "$out/machine.txt"
if [[ -s $BENCH_RESULTS ]]; then python3 "$here/bench-page.py" "$out" "$out/performance.md"; fi
((${#failed[@]} == 0)) || { echo "failed: ${failed[*]}" >&2; exit 1; }
[[ -s $BENCH_RESULTS ]] || { echo "nothing was measured: the benchmarks need an NVIDIA GPU" >&2; exit 77; }
