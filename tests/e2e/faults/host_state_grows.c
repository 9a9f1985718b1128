/* cupel: 1
id: host-state-grows
about: Keeps a buffer that grows with the calls, which is no defect.
dims: {N: 1..1024}
inputs: {x: {type: f32, shape: [N], finite: true}}
outputs: {y: {type: f32, shape: [N]}}
ensures: {y: "flip(x, 0)"}
kernel: {symbol: reverse, args: [x, y, N]}
*/
#include <stdlib.h>

void reverse(const float *x, float *y, int n) {
    static float *kept;
    static int room;
    if (n > room) kept = realloc(kept, (size_t)(room = n) * sizeof *kept);
    for (int i = 0; i < n; i++) kept[i] = x[n - 1 - i];
    for (int i = 0; i < n; i++) y[i] = kept[i];
}
