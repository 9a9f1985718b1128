# SIGINT and SIGTERM end the search; what it found is reported. With a budget that is inconclusive, without one it is the
# end that a campaign has
interrupt() {
    signal=$1
    shift
    rm -f report progress # of the one before
    env --default-signal=INT cupel "$@" >report 2>progress &
    process=$!
    for attempt in $(seq 1000); do grep -q cases progress 2>/dev/null && break; sleep 0.1; done
    kill -s "$signal" $process
    wait $process
    echo "-> $?"
    grep -o 'INCONCLUSIVE: interrupted before the budget was used up\|ACCEPTED' report
}
for signal in INT TERM; do
    interrupt $signal check "$KERNELS/softmax.cu" --for 100
    interrupt $signal fuzz "$KERNELS/softmax.cu"
done
interrupt INT fuzz "$KERNELS/softmax.cu" --for 100
