# two kernels under one contract: which is right
try cupel diff $KERNELS/row_max.cu $KERNELS/row_max_nan.cu --cases 40 --seed 1
try cupel diff $KERNELS/relu_float4.cu $KERNELS/relu_float4_tail.cu --cases 2 --seed 3 --format json
# one kernel on two executors
try cupel diff $KERNELS/transpose.cu --on emu,emu --cases 20 --seed 1
# elements of either zero have no one value: a fused product keeps the sign of what underflows
sed 's/sum += \(A.*\) \* part\[j\];/sum = fmaf(\1, part[j], sum);/' $KERNELS/gemv.cu >fused.cu
try cupel diff $KERNELS/gemv.cu fused.cu --cases 200 --seed 2
# what cannot be compared
try cupel diff $KERNELS/softmax.cu $KERNELS/matmul.cu
try cupel diff $KERNELS/softmax.cu
try cupel diff $KERNELS/softmax.cu --on emu,gpu
