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
# minimise updates the very folder it was given, even where another gate turns out
mkdir apart
cp -r "$bundle" apart/CMP-01-wrong-value-y
try cupel minimise apart/CMP-01-wrong-value-y elsewhere.cu --cases 900 --for 200 | grep '^CMP\|replay\|->'
ls apart
# of a folder with a name of its own, too; a file that is damaged is said to be
mv apart/CMP-01-wrong-value-y 'apart/my own name'
try cupel minimise 'apart/my own name' elsewhere.cu --cases 40 | grep 'replay\|->'
ls apart
truncate -s 100 'apart/my own name/output.npy'
try cupel replay 'apart/my own name' elsewhere.cu | grep 'output\|->' | sed 's/expected .*/expected .../'
# a case outside the contract, and a field of another type, are told with their place
sed -i 's/N: [0-9]*/N: 1000000/' 'apart/my own name/case.yaml'
try cupel replay 'apart/my own name' elsewhere.cu
sed -i 's/"defines": \[\]/"defines": "x"/' 'apart/my own name/bundle.json'
try cupel replay 'apart/my own name' elsewhere.cu
