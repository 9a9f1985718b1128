# a race that only another schedule shows, and a result that an earlier call leaves behind
try cupel run "$KERNELS/warp_sum_no_sync.cu" --set M=1 --set N=2 --pattern one --schedule last_warp
try cupel run "$KERNELS/warp_sum.cu" --set M=1 --set N=2 --pattern one --schedule last_warp
try cupel run "$KERNELS/scale_by_largest_cached.cu" --set N=2 --history other_values
try cupel run "$KERNELS/scale_by_largest.cu" --set N=2 --history other_values
try cupel run "$KERNELS/warp_sum.cu" --schedule backwards
try cupel run "$KERNELS/warp_sum.cu" --history often
