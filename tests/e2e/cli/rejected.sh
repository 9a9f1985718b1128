# the whole way: found, minimised, saved, replayed; then the kernel is mended and the bundle holds
cp "$KERNELS/softmax_tail_zero.cu" kernel.cu
try cupel check kernel.cu --seed 3 --cases 200 --quiet >report
sed -n '/^CMP-03 shape polymorphism: wrong value/,/replay/p' report
grep -c '^REJECTED by CMP-03 (200 cases' report
find crashes -path '*wrong-value*' | sort
bundle=$(echo crashes/*/*wrong-value*)
try cupel replay "$bundle"
try cupel minimise "$bundle"
sed -i 's/: 0.0f;/: -INFINITY;/' kernel.cu
try cupel replay "$bundle"
