try cupel chekc kernel.cu
try cupel frobnicate
for command in fuzz diff init explain build study calibrate doctor; do try cupel $command x; done
try cupel check
try cupel check missing.cu
try cupel check --caes 3 missing.cu
try cupel check --for soon missing.cu
try cupel check --on cuda missing.cu
try cupel check --format sarif missing.cu
try cupel check "$KERNELS/transformer_ops.cu"
try cupel check "$KERNELS/transformer_ops.cu" --contract bias-gleu
try cupel run "$KERNELS/softmax.cu" --set K=3
try cupel run "$KERNELS/softmax.cu" --set M=4 --set N=0
try cupel run "$KERNELS/softmax.cu" --set N
try cupel run "$KERNELS/softmax.cu" --pattern nromal
try cupel run "$KERNELS/softmax.cu" --special nan --placement nowhere
try cupel replay .
try cupel minimise missing
printf '__global__ void f() {}\n' >plain.cu
try cupel check plain.cu
try cupel check --frob missing.cu
try cupel check "$KERNELS/softmax.cu" --cases 99999999999999999999
try cupel check "$KERNELS/softmax.cu" -o ''
try cupel check "$KERNELS/softmax.cu" -o plain.cu
try cupel check "$KERNELS/softmax.cu" --gates ''
try cupel run "$KERNELS/softmax.cu" --type T=f61
try cupel run "$KERNELS/softmax.cu" --special quiet
mkdir taken taken/crashes
touch taken/crashes/row-softmax
try cupel check "$KERNELS/softmax.cu" -o taken
mkfifo pipe
try cupel check pipe
try cupel check /dev/null
mkdir damaged
for meta in '[]' '{}' '{"bundle": 2}' '{' ; do echo "$meta" >damaged/bundle.json; try cupel replay damaged; done
# output that cannot be written is an error
cupel ops >/dev/full; echo "-> $?"
