/* cupel: 1
id: host-state-buffer
about: Keeps the first call's buffer, and with it its size.
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
    if (!kept) kept = malloc((size_t)(room = n) * sizeof *kept);
    if (n > room) n = room;
    for (int i = 0; i < n; i++) kept[i] = x[n - 1 - i];
    for (int i = 0; i < n; i++) y[i] = kept[i];
}
