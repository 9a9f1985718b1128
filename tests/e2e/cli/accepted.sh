try cupel check "$KERNELS/softmax.cu" --seed 3 --cases 60 --quiet >report
echo "exit status $(grep '^->' report), $(grep -c ACCEPTED report) verdict, $(ls | grep -c crashes) crashes"
grep '^output' report | sed 's/magnitude [0-9.]* %/magnitude SHARE/'
grep '^tried' report
