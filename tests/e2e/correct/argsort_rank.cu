/* cupel: 1
id: argsort-rank
about: Stable argsort by counting for each element those that come before it; nothing is ever moved.
dims:    {M: 1..16, N: 1..128}
inputs:  {x: {type: i32, shape: [M, N], range: [-50, 50]}}
outputs: {order: "i32[M, N]"}
ensures: {order: "argsort(x, axis=-1, stable=true)"}
kernel:  {entry: rank_rows, args: [x, order, N], grid: [M], block: [128]}
*/
#include <cuda_runtime.h>

__global__ void rank_rows(const int *x, int *order, int n) {
    const int *row = x + blockIdx.x * n;
    const int i = threadIdx.x;
    if (i >= n) return;
    int rank = 0;
    for (int j = 0; j < n; j++) rank += row[j] < row[i] || (row[j] == row[i] && j < i);
    order[blockIdx.x * n + rank] = i;
}
