# a campaign: what it finds is saved and told, the next one knows it, and says what has been mended
cp "$KERNELS/softmax_tail_zero.cu" kernel.cu
cupel fuzz kernel.cu -o out --seed 3 --cases 150 >report 2>talk
echo "-> $?"
grep -c '^found wrong-value-y' talk
grep '^minimised .*wrong-value-y' talk
grep -o '^REJECTED by CMP-03 (150 cases' report
grep -o '1 search(es), 0 worker restart(s)' report
ls out out/stats/*
test "$(ls out/corpus/row-softmax-tail-zero | grep -c '^[0-9a-f]\{32\}\.recipe$')" -gt 20 && echo a corpus
grep -c '^execs_done *: 150$' out/stats/*/fuzzer_stats
cupel fuzz kernel.cu -o out --seed 4 --cases 50 >report 2>talk
echo "-> $?"
grep -A1 '^known .*wrong-value-y' talk
grep -B1 'replay .*wrong-value-y' report
sed -i 's/: 0.0f;/: -INFINITY;/' kernel.cu
cupel fuzz kernel.cu -o out --seed 5 --cases 50 >report 2>talk
echo "-> $?"
sed -n 's/^note: \(.*wrong-value-y\)/it notes: \1/p' talk
grep -A2 'failing no longer' report
grep -o '^ACCEPTED (50 cases' report
# quiet it says nothing; the object is that of a check and what a campaign adds
cupel fuzz kernel.cu -o out --seed 5 --cases 50 -q --format json 2>talk >report.json
echo "-> $?, $(wc -c <talk) bytes of talk"
python3 - <<'PYTHON'
import json
report = json.load(open("report.json"))
print(sorted(report["campaign"]), sorted(report["campaign"]["corpus"]))
print(report["verdict"], report["cases"], report["campaign"]["searches"], report["campaign"]["restarts"])
print([path for path in report["no_longer_fails"] if "wrong-value" in path])
PYTHON
# files that are no recipes, and a bundle that is damaged, are left alone
folder=out/corpus/row-softmax-tail-zero
echo text >$folder/README
head -c 20 "$(ls $folder/*.recipe | head -n 1)" >$folder/00000000000000000000000000000000.recipe
mkdir $folder/folder.recipe
ln -s loop.recipe $folder/loop.recipe
mkfifo $folder/pipe.recipe
head -c 30 out/crashes/*/*wrong-value-y/case.yaml >cut
cp cut out/crashes/*/*wrong-value-y/case.yaml
cupel check kernel.cu -o out --seed 5 --cases 40 2>&1 >/dev/null | sed -n "s/^\(note\|warning\): \(.*out\/.*\)/it notes: \2/p"
ls $folder | grep -vc '^[0-9a-f]\{32\}\.recipe$'
# where nothing can be saved the answer is still one
cp "$KERNELS/softmax_tail_zero.cu" kernel.cu
mkdir other other/crashes
touch other/corpus
cupel fuzz kernel.cu -o other --seed 3 --cases 100 2>&1 >report | grep '^warning'
grep -o '^REJECTED by CMP-03' report
try cupel fuzz kernel.cu -o kernel.cu
try cupel fuzz kernel.cu --cases 0
