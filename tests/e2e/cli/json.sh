# the object that scripts read: its keys, and that NaN is a string beside its bits
cupel check "$KERNELS/row_max_nan.cu" --seed 3 --cases 100 --quiet --format json >report.json
echo "-> $?"
python3 - <<'PYTHON'
import json
report = json.load(open("report.json"))
print(sorted(report))
print(report["contract"], report["executor"], report["verdict"], report["cases"], report["seed"])
for gate in report["gates"]:
    print(gate["id"], gate["status"], sorted(gate))
finding = report["findings"][0]
print(sorted(finding))
for key in ("gate", "standing", "kind", "output", "signature", "element", "allowed", "exact", "exact_digits", "bundle"):
    print(key, finding[key])
print(finding["got"]["type"], finding["got"]["bits"])
print("ulp", finding["ulp"], "radii", finding["radii"])
for dim in report["dims"]:
    print(sorted(dim), dim["claimed"])
for output in report["outputs"]:
    counts = output["not_judged"]
    print(sorted(output), output["name"], sorted(counts))
    print(output["considered"] == output["judged"] + sum(counts.values()), output["judged"] > 0)
print([gate["id"] for gate in report["gates"] if gate["worst_ratio"] is not None])
PYTHON
# a mistake is one object too
cupel check missing.cu --format json 2>/dev/null
echo "-> $?"
sed 's/ensures:/esnures:/' "$KERNELS/softmax_tail_zero.cu" >misspelt.cu
cupel check misspelt.cu --format json 2>/dev/null
cupel check --frob --format json 2>/dev/null
echo "-> $?"
cupel check "$KERNELS/softmax.cu" --dry-run --format json >plan.json
echo "-> $?"
python3 -c 'import json; plan = json.load(open("plan.json")); print(sorted(plan), plan["dims"][0], plan["types"], plan["gates"][1])'
cupel check "$KERNELS/softmax.cu" --cases 20 --seed 1 --quiet --format json >/dev/full
echo "-> $?"
