# a bundle that moves with its kernel replays; without it, the user is asked; a changed kernel is said
mkdir 'the project'
cp "$KERNELS/softmax_tail_zero.cu" 'the project/kernel.cu'
cd 'the project'
cupel check kernel.cu -o 'found here' --seed 3 --cases 200 --quiet | grep "replay.*value"
cd ..
mv 'the project' moved
bundle=$(echo moved/found*/crashes/*/*wrong-value*)
try cupel replay "$bundle" | tail -n 2
echo '// changed' >>moved/kernel.cu
try cupel replay "$bundle" | tail -n 3
# too few tries to tell the gate: it stays
try cupel minimise "$bundle" --cases 3 | grep -v '^  [a-m]'
mv moved/kernel.cu elsewhere.cu
try cupel replay "$bundle"
try cupel minimise "$bundle" "$bundle"
# a bundle under another gate is replaced where it lies
mkdir apart
cp -r "$bundle" apart/CMP-01-wrong-value-y
try cupel minimise apart/CMP-01-wrong-value-y elsewhere.cu --cases 900 --for 200 | grep '^CMP\|replay\|->'
ls apart
