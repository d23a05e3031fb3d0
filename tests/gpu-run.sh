#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Runs the built GPU tests on a machine that has a GPU and need have neither meson nor the sources.
#
#   tests/gpu-run.sh [--no-skips] [--timeout SECONDS] ROOT [OUT]
#
# ROOT  a folder with the build folder somewhere below it
# OUT   where each test's log goes (default: gpu-logs)
#
# Tests are the executables .../build/tests/**/gpu-*, and the lines "name<TAB>command" of each file
# .../build/gpu-tests.list; a command is for bash and has $BUILD, that build folder. Exit code 77 is a skip.
# Exits with 1 when a test failed or none ran; with --no-skips also when one was skipped.
set -euo pipefail
usage() { sed -n 's/^#   tests/usage: tests/p' "$0" >&2; exit 2; }
no_skips='' limit=300
while (($#)); do
  case $1 in
    --no-skips) no_skips=1 ;;
    --timeout) limit=${2:-}; shift ;;
    -*) usage ;;
    *) break ;;
  esac
  (($#)) || usage
  shift
done
[[ $# -ge 1 && $# -le 2 && -d $1 && $limit =~ ^[0-9]+$ ]] || usage
root=$(cd "$1" && pwd) out=${2:-gpu-logs}
mkdir -p "$out"

names=() commands=() builds=()
add() { names+=("$1") commands+=("$2") builds+=("$3"); }
while IFS= read -r program; do
  add "$(basename "$program")" "$(printf '%q' "$program")" "${program%/tests/*}"
done < <(find "$root" -path '*/build/tests/*' -name 'gpu-*' -type f -perm -u+x -not -path '*.p/*' -not -name '*.so*' | sort)
# shellcheck disable=SC2094  # the list is only read
while IFS= read -r list; do
  while IFS=$'\t' read -r name command; do
    if [[ $name && $name != \#* ]]; then add "$name" "$command" "$(dirname "$list")"; fi
  done < "$list"
done < <(find "$root" -path '*/build/gpu-tests.list' -type f | sort)

passed=0 failed=0 skipped=0
for i in "${!names[@]}"; do
  log=$out/${names[i]//\//_}.log
  start=$SECONDS status=0
  BUILD=${builds[i]} timeout --kill-after=10 "$limit" bash -c "${commands[i]}" > "$log" 2>&1 < /dev/null || status=$?
  case $status in
    0) word=PASS passed=$((passed + 1)) ;;
    77) word=SKIP skipped=$((skipped + 1)) ;;
    124 | 137) word="FAIL (over $limit s, or killed)" failed=$((failed + 1)) ;;
    *) word="FAIL ($status)" failed=$((failed + 1)) ;;
  esac
  printf '%-40s %s  %d s\n' "${names[i]}" "$word" $((SECONDS - start))
  case $word in
    PASS) ;;
    SKIP) tail -n 3 "$log" | sed 's/^/    /' ;;
    *) tail -n 40 "$log" | sed 's/^/    /' ;;
  esac
done
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
((failed == 0 && passed + skipped > 0)) || exit 1
[[ ! $no_skips || $skipped = 0 ]] || exit 1
