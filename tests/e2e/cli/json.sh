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
PYTHON
