# SIGINT and SIGTERM end the search; what it found is reported
for signal in INT TERM; do
    env --default-signal=INT cupel check "$KERNELS/softmax.cu" --for 100 >report 2>progress &
    process=$!
    for attempt in $(seq 100); do grep -q cases progress && break; sleep 0.1; done
    kill -s $signal $process
    wait $process
    echo "-> $?"
    grep -o 'INCONCLUSIVE: interrupted before the budget was used up' report
done
