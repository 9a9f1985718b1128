# what a counterexample shows, value by value; mended, it holds
cp "$KERNELS/softmax_tail_zero.cu" kernel.cu
cupel check kernel.cu --seed 3 --cases 200 --quiet >/dev/null
bundle=$(echo crashes/*/*wrong-value*)
try cupel explain "$bundle"
ls "$bundle"
sed -i 's/: 0.0f;/: -INFINITY;/' kernel.cu
try cupel explain "$bundle"
try cupel explain nowhere
PATH=$(dirname "$(command -v cupel)") try cupel replay --gdb "$bundle"
