# A contract that tells right from wrong, one that does not, and mistakes. No kernel is compiled: this one could not be.
echo "no CUDA at all" >nowhere.cu
cat >total.yaml <<'END'
cupel: 1
id: total
dims: {N: 1..70}
inputs: {x: "f32[N]"}
outputs: {y: "f32[1]"}
ensures: {y: "sum(x, keepdim=true)"}
source: {file: nowhere.cu}
kernel: {entry: total, args: [x, y, N], grid: [1], block: [64]}
END
sed '6a tolerance: {y: {abs: 1e30, rel: 1}}' total.yaml >loose.yaml
for contract in total loose; do
    cupel calibrate $contract.yaml --cases 40 --quiet >$contract.txt
    echo "$contract -> $?"
    sed -n '1p;/^good  *[0-9]/p;/^  scaled/,/^  *[^ ]*:/p;/^Under/p;$p' $contract.txt
done
cupel calibrate total.yaml --cases 40 --quiet --format json | sed -n '/"name": "scaled"/,/"rejected_by"/p'
try cupel calibrate total.yaml --engine draw
try cupel calibrate
