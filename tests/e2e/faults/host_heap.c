/* cupel: 1
id: host-heap
about: Writes behind a heap block.
dims:    {N: 1..4096}
inputs:  {x: "f32[N]"}
outputs: {y: "f32[N]"}
ensures: {y: "2 * x"}
kernel:  {symbol: scale, args: [x, y, {N: i32}]}
*/
#include <stdlib.h>
#include <string.h>
void scale(const float *x, float *y, int n) {
    for (int i = 0; i < n; i++) y[i] = 2.0f * x[i];
    if (n % 7 == 3) {
        char *p = malloc(40);
        memset(p, 0x5a, 200);
        free(p);
    }
}
