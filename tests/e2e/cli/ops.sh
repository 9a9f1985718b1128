cupel ops | head -6
try cupel ops softmax
try cupel ops sofmax
cupel ops mish --format json
cupel ops | grep -c PyTorch:
cupel ops | grep -c error:
