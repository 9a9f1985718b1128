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
# a value that makes no sense, and what a contract claims without being able to
try cupel run "$KERNELS/softmax.cu" --set N=99999999999999999999999
for value in nan 1e400 x=-1e400; do try cupel run "$KERNELS/softmax.cu" --amplitude $value; done
for gates in CMP-02 ORD-01 CMP-02,ORD-01; do try cupel check "$KERNELS/softmax.cu" --gates $gates; done
cupel check "$KERNELS/softmax.cu" --dry-run | grep 'CMP-02\|ORD-01'
cat >claims.cu <<'END'
/* cupel: 1
id: claims
DIMS
inputs: {x: 'f32[n]'}
outputs: {y: 'f32[n]'}
ensures: {y: 'x'}
kernel: {entry: f, args: [x, y, n], grid: [1], block: [128]}
*/
__global__ void f(const float *x, float *y, int n) { if (threadIdx.x < n) y[threadIdx.x] = x[threadIdx.x]; }
END
claim() { sed "s/^DIMS/$1/" claims.cu >claimed.cu; try cupel check claimed.cu --cases 10 | sed "s,/[^ ]*/claimed,claimed,"; }
claim 'dims: {n: 1..99999999999}'
claim 'dims: {n: 1..100}\nrequires: ["n % 0 == 1"]'
claim 'dims: {n: 1..100}\nsource: {defines: {n: 5}}'
claim 'dims: {n: 1..100}\nsource:\n  file: nofile.cu'
cp "$KERNELS/softmax.cu" $'two\nlines.cu'
try cupel check $'two\nlines.cu'
(ulimit -n 12 && try cupel check "$KERNELS/softmax.cu" --cases 5)
# a file that grows no further is an error, not an end by signal
(ulimit -f 8 && try cupel check "$KERNELS/softmax.cu" --cases 5)
# output that cannot be written is an error
cupel ops >/dev/full; echo "-> $?"
