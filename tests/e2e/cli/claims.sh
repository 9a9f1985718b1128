# what the author of each gate's finding reads: the contract's own lines, why it is this gate's, what would settle a dispute
explained() { # GATE KERNEL
    cupel check "$KERNELS/$2.cu" --cases 300 --seed 1 --quiet -o "$2" >/dev/null
    text=$(echo "$2"/crashes/*/"$1"-[!i]*/explain.md | cut -d' ' -f1)
    sed -n '1p;/^Likely/p;/^The contract/,/asserts/p' "$text" | grep .
    sed -n '/^Cannot be\|^It needs\|^Whatever/p;/^  settled/,/^```/p' "$text" | grep -v '```'
    echo
}
explained CMP-01 layer_norm_eps_outside
explained CMP-02 layer_norm_backward_detached
explained CMP-03 matmul_k_tail
explained ORD-01 sum_until_zeros
explained ORD-02 cumsum_carry_race
explained ORD-03 row_argmax_last_tie
explained PRC-01 gelu_half_cube
explained PRC-02 matmul_tf32_undeclared
explained EXC-01 row_max_nan
explained EXC-02 half_to_float_bits
explained RES-01 rms_norm_over_read
explained RES-02 layer_norm_grid_y
# a contract over many lines: those that are claimed, as they stand
cat >rows.c <<'C'
/* cupel: 1
 * id: rows
 */
float *unused;
void rows(const float *x, float *y, long long N) {
    for (long long i = 0; i < N; i++) y[i] = x[i] + (i == 2 ? 1 : 0);
}
C
cat >rows.yaml <<'Y'
cupel: 1
id: rows
dims:
  N:
    1..64
inputs: {x: {type: f32, shape: [N],
  range: [-1, 1]}}
outputs: {y: "f32[N]"}
ensures:
  y: "x
     + 0"
source: {file: rows.c}
kernel: {symbol: rows, args: [x, y, N]}
Y
cupel check rows.yaml --cases 60 --seed 1 -q >/dev/null
sed -n '/^The contract/,/asserts/p' crashes/rows/CMP-*/explain.md
