# a misspelt key, an unknown name in an expression, a shape that does not fit: nothing runs
sed 's/ensures:/esnures:/' "$KERNELS/softmax_tail_zero.cu" >misspelt.cu
try cupel check misspelt.cu
sed 's/"softmax(x, axis=-1)"/"softmax(z, axis=-1)"/' "$KERNELS/softmax_tail_zero.cu" >unknown.cu
try cupel check unknown.cu
sed 's/"softmax(x, axis=-1)"/"sum(x, axis=-1)"/' "$KERNELS/softmax_tail_zero.cu" >shape.cu
try cupel check shape.cu
sed 's/args:  \[x, y, N\]/args:  [x, y]/' "$KERNELS/softmax_tail_zero.cu" >count.cu
try cupel check count.cu --quiet
