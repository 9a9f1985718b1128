# objects that stand in for the compiler, also for a copy of the source elsewhere
try cupel build $KERNELS/transpose.cu -o objects
mkdir copy empty && cp $KERNELS/transpose.cu $KERNELS/row_max.cu copy
export HOME=$PWD/empty; unset XDG_CACHE_HOME
bare() { PATH=$PWD/none "$program" "$@"; }
program=$(command -v cupel)
try bare run copy/transpose.cu --set M=3 --set N=2 --objects objects
try bare run copy/row_max.cu --objects objects
try bare run copy/transpose.cu --objects nowhere
try cupel build $KERNELS/transpose.cu
try cupel build $KERNELS/transformer_ops.cu --contract no-such -o objects
