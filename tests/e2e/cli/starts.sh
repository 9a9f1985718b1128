# a defect at one length in 97: its source speaks of it, so that a start has it
try cupel check "$KERNELS/scale_rare.cu" --engine draw --cases 60 --quiet >report
sed -n '/^CMP-03 shape polymorphism: wrong value/p; /^  minimal/p' report
grep -c '^REJECTED by CMP-03 (60 cases' report
