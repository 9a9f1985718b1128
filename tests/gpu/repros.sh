#!/bin/bash
# Runs the programs made of reproduction files (tests/e2e/repro.py --keep DIR) on a machine with a GPU.
# usage: repros.sh DIR    prints one line each: name, exit status (1: shown, 0: not shown, 2: could not run), last line
set -u
cd "${1:?folder of compiled reproduction files}" || exit 2
shown=0 hidden=0 broken=0
for program in *; do
    [ -f "$program" ] && [ -x "$program" ] || continue
    output=$(timeout 60 "./$program" 2>&1)
    status=$?
    case $status in
    0) hidden=$((hidden + 1)) ;;
    1) shown=$((shown + 1)) ;;
    *) broken=$((broken + 1)) ;;
    esac
    printf '%-70s %3d  %s\n' "$program" "$status" "$(printf '%s\n' "$output" | tail -n 1)"
done
echo "$shown shown, $hidden not shown, $broken could not run"
[ "$broken" = 0 ] && [ $((shown + hidden)) -gt 0 ]
