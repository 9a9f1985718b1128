try cupel check "$KERNELS/softmax.cu" --dry-run
