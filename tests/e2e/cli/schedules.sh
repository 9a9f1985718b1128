# a race that only another schedule shows, and a result that an earlier call leaves behind
try cupel run "$KERNELS/cumsum_carry_race.cu" --set M=1 --set N=33 --pattern one --schedule reverse
try cupel run "$KERNELS/cumsum_carry.cu" --set M=1 --set N=33 --pattern one --schedule random:7/12
try cupel run "$KERNELS/scale_by_largest_cached.cu" --set N=2 --history other_values
try cupel run "$KERNELS/scale_by_largest.cu" --set N=2 --history other_values
try cupel run "$KERNELS/warp_sum.cu" --schedule backwards
try cupel run "$KERNELS/warp_sum.cu" --history often
