# SIGINT and SIGTERM end the search; what it found is reported. With a budget that is inconclusive, without one it is the
# end that a campaign has
interrupt() { # CASES SIGNAL COMMAND..: the signal once its progress tells of so many cases, as a pattern
    cases=$1 signal=$2
    shift 2
    rm -f report progress # of the one before
    env --default-signal=INT cupel "$@" >report 2>progress &
    process=$!
    for attempt in $(seq 1000); do grep -q "$cases cases" progress 2>/dev/null && break; sleep 0.1; done
    kill -s "$signal" $process
    wait $process
    echo "-> $?"
    grep -o 'INCONCLUSIVE: interrupted before the budget was used up\|ACCEPTED' report
}
some='[0-9]\{2,\}'
many='\([3-9]..\|[0-9]\{4,\}\)' # fewer than 300 need not hold a judged ordinary shape: inconclusive without a budget too
for signal in INT TERM; do
    interrupt "$some" $signal check "$KERNELS/softmax.cu" --for 1000
    interrupt "$many" $signal fuzz "$KERNELS/softmax.cu"
done
interrupt "$some" INT fuzz "$KERNELS/softmax.cu" --for 1000
# while the compiler is at work (one that never ends) the first signal ends both, and nothing is accepted
mkdir fake
printf '#!/bin/sh\nexec sleep 600\n' >fake/clang
chmod +x fake/clang
for command in check fuzz; do
    rm -rf cache
    XDG_CACHE_HOME=$PWD/cache PATH=$PWD/fake:$PATH env --default-signal=INT cupel $command "$KERNELS/softmax.cu" \
        >report 2>&1 &
    process=$!
    for attempt in $(seq 1000); do ls cache/cupel/compile-*/log 2>/dev/null && break; sleep 0.1; done | wc -l
    kill -s INT $process
    wait $process
    echo "-> $?"
    cat report
done
