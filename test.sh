#!/bin/bash
# The tests. Without arguments: the short tier (unit, property and end-to-end tests in a release build, unit tests and two
# kernels under ASan and UBSan, every kernel of seeds/ with a fixed number of cases). --long: the long tier, hours; it writes a
# record under tests/records and, when stopped, goes on where it was. The last line reads 'N passed, N failed, N skipped';
# the exit status is 0 when nothing failed and something passed.
#   --jobs N    parallel build and test jobs (default: all processors)
#   --only RE   only the steps whose name matches
set -u
cd "$(dirname "$0")" || exit 2

tier=short jobs=$(nproc) only=. passed=0 failed=0 skipped=0
while [ $# -gt 0 ]; do
    case $1 in
    --long) tier=long ;;
    --jobs) jobs=$2; shift ;;
    --only) only=$2; shift ;;
    *) echo "test.sh: unknown option $1; known: --long --jobs N --only RE" >&2; exit 2 ;;
    esac
    shift
done
logs=build/test-logs
mkdir -p "$logs"

# step NAME COMMAND..: one result. Output goes to a log, whose end is shown when the step fails.
step() {
    local name=$1 start=$SECONDS
    shift
    [[ $name =~ $only ]] || return 0
    if "$@" >"$logs/$name.log" 2>&1; then
        passed=$((passed + 1))
        echo "ok      $name ($((SECONDS - start)) s)"
    else
        failed=$((failed + 1))
        echo "not ok  $name ($((SECONDS - start)) s), see $logs/$name.log"
        tail -n 30 "$logs/$name.log" | sed 's/^/        /'
        return 1
    fi
}

skip() {
    [[ $1 =~ $only ]] || return 0
    skipped=$((skipped + 1))
    echo "skip    $1: $2"
}

# tests NAME BUILD CTEST-ARGUMENTS..: each test program is one result. A run without any test is a failure.
tests() {
    local name=$1 folder=$2 start=$SECONDS log="$logs/$1.log" good bad none
    shift 2
    [[ $name =~ $only ]] || return 0
    ctest --test-dir "$folder" -j "$jobs" --timeout 600 --output-on-failure "$@" >"$log" 2>&1
    good=$(grep -c '^ *[0-9]*/[0-9]* Test .* Passed ' "$log")
    none=$(grep -c '^ *[0-9]*/[0-9]* Test .*\*\*\*\(Skipped\|Not Run\)' "$log")
    bad=$(grep -c '^ *[0-9]*/[0-9]* Test .*\*\*\*\(Failed\|Timeout\|Exception\|Bad\)' "$log")
    [ $((good + bad)) = 0 ] && bad=1
    passed=$((passed + good)) failed=$((failed + bad)) skipped=$((skipped + none))
    echo "$([ "$bad" = 0 ] && echo 'ok     ' || echo 'not ok ') $name: $good passed, $bad failed, $none skipped ($((SECONDS - start)) s)"
    [ "$bad" = 0 ] || grep -A 25 'The following tests FAILED\|\*\*\*Failed\|\*\*\*Exception\|\*\*\*Timeout' "$log" | head -n 80
}

build() { cmake --preset "$1" "${@:2}" && cmake --build --preset "$1" -j "$jobs"; }

build_units() { cmake --preset "$1" && cmake --build --preset "$1" -j "$jobs" --target cupel unit_tests; }

formatted() { git ls-files '*.c' '*.h' | grep -v '^tests/bench/baseline/\|^tests/e2e/faults/\|^harness/emulator/include/\|^harness/exec/device/' | xargs -P "$jobs" -n 40 clang-format --dry-run -Werror; }

# Kernels of a manifest: each contract is one result.
kernels() {
    local name=$1 start=$SECONDS log="$logs/$1.log" good bad
    shift
    [[ $name =~ $only ]] || return 0
    python3 tests/e2e/manifest.py --jobs "$jobs" "$@" >"$log" 2>&1
    good=$(grep -c '^ok ' "$log") bad=$(grep -c '^not ok ' "$log")
    [ $((good + bad)) = 0 ] && bad=1
    passed=$((passed + good)) failed=$((failed + bad))
    echo "$([ "$bad" = 0 ] && echo 'ok     ' || echo 'not ok ') $name: $good passed, $bad failed ($((SECONDS - start)) s)"
    [ "$bad" = 0 ] || grep -A 6 '^not ok' "$log" | head -n 60
}

finish() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" = 0 ] && [ "$passed" -gt 0 ]
    exit
}

step dependencies scripts/install-dependencies.sh test || finish

# What the sanitizers see no more of than the release build does, or too slowly: the long tier runs the tests of it.
not_sanitized='^(bench|e2e|property|layer|project|features_(listed|script)'
not_sanitized+='|test_(emu|cuda)_compile|test_exec_emu|test_emulator_(exchanges|circles)|test_sanitizer_order|test_recipe_legality)'

short_tier() {
    if command -v clang-format >/dev/null; then step format formatted; else skip format "clang-format is not installed"; fi
    if step build-release build release -DCUPEL_TESTS=ON; then
        tests tests-release build/release -L short
        kernels kernels --cupel build/release/cupel --manifest seeds/manifest.txt --folder seeds/kernels \
            --only '^(?!hgemm-|gemm-wmma|row-sum-pipeline)' --cases-accepted 2000 --cases-rejected 3000
        kernels tensor-cores --cupel build/release/cupel --manifest seeds/manifest.txt --folder seeds/kernels \
            --only '^(hgemm-|gemm-wmma|row-sum-pipeline)' --cases-accepted 2000 --cases-rejected 200
        kernels faults --cupel build/release/cupel --manifest tests/e2e/faults/manifest.txt --cases-rejected 3000 --cases-accepted 100
        kernels correct --cupel build/release/cupel --manifest tests/e2e/correct/manifest.txt --folder tests/e2e/correct --cases-rejected 300 --cases-accepted 150
        kernels suspects --cupel build/release/cupel --manifest tests/e2e/correct/suspects.txt --folder tests/e2e/correct --cases-accepted 150
    fi
    if step build-asan build_units asan; then
        tests tests-asan build/asan -L short -E "$not_sanitized"
        kernels kernels-asan --cupel build/asan/cupel --manifest seeds/manifest.txt --folder seeds/kernels \
            --only '^row-softmax$|^block-sum-power-of-two$' --cases-accepted 100 --cases-rejected 100
    fi
}

# A step of the long tier is not run again for the same revision once the record says that it passed.
record=tests/records/long.txt
long_step() {
    local name=$1 revision
    shift
    revision=$(git rev-parse --short HEAD)
    if grep -q "^$revision $name passed" "$record" 2>/dev/null; then
        skip "$name" "passed before at $revision"
    elif step "$name" "$@"; then
        echo "$revision $name passed $(date -u +%Y-%m-%dT%H:%M:%SZ)" >>"$record"
    fi
}

fresh_machine() { scripts/fresh-machine.sh; }

long_tier() {
    step build-release build release -DCUPEL_TESTS=ON || return
    step build-asan build asan || return
    long_step short-tests-asan ctest --test-dir build/asan -L short -E '^(bench|e2e|property)' --output-on-failure --timeout 7200 --no-tests=error
    long_step long-tests ctest --test-dir build/asan -L long --output-on-failure --timeout 7200 --no-tests=error
    if command -v debootstrap >/dev/null && [ "$(id -u)" = 0 ]; then
        long_step fresh-machine fresh_machine
    else
        skip fresh-machine "needs root and debootstrap"
    fi
    long_step endurance python3 tests/e2e/endurance.py --cupel build/release/cupel --kernel seeds/kernels/softmax.cu --minutes 30 \
        --record tests/records/endurance.jsonl
    step schedules python3 tests/e2e/schedules.py --program build/release/tests/e2e/run_schedules --kernels seeds/kernels \
        --racy 1000 --record tests/records/schedules.jsonl
    step campaign python3 tests/e2e/campaign.py --cupel build/release/cupel --manifest seeds/manifest.txt --folder seeds/kernels \
        --record tests/records/correct-kernels-million.jsonl
}

"${tier}_tier"
finish
