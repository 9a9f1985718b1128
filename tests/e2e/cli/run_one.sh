try cupel run "$KERNELS/softmax_tail_zero.cu" --set M=1 --set N=3 --pattern integers --seed 1
try cupel run "$KERNELS/softmax_tail_zero.cu" --set M=1 --set N=128 --pattern one
try cupel run "$KERNELS/row_max_nan.cu" --set M=1 --set N=4 --special nan
# nothing judged is no pass
try cupel run "$KERNELS/softmax.cu" --set M=1 --set N=2 --centre x=1e39
