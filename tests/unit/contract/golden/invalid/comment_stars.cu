#include <cuda_runtime.h>
// cupel: 1 in a line comment is no contract
const char *text = "/* cupel: 1 */";

/**
 * cupel: 1
 * id: row-softmax
 * dims: {M: 1..512, N: 1..8192}
 * types: {T: [f32, f16]}
 * inputs: {x: "T[M, N]"}
 * outputs: {y: "T[M, N]"}
 * ensures: {y: "softmax(x, axis=-1)"}
 * kernel:
 *   entry: softmax<$T>
 *   args: [x, y, M, N]
 *   grid: [K]
 *   block: [256]
 */
template <class T> __global__ void softmax(const T *x, T *y, int M, int N) {}
