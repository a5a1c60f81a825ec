text 100000 >data
# Why auto took it depends on what there is to choose.
numbers() { sed -E 's/\(auto: [^)]*\)/(auto: why)/; s/[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?/N/g; s/N MB\/s/N GB\/s/' "$1"; }
hemstitch -vT2 data 2>stderr
numbers stderr
hemstitch -dvc -T1 data.lz4 2>stderr | cmp - data
numbers stderr
hemstitch -tv data.lz4 2>stderr
numbers stderr
# A range has no ratio to what was read for it.
hemstitch -dvc -T1 --range 10-20 data.lz4 2>stderr >part
numbers stderr
# -q wins, wherever it stands, alone and with -r.
mkdir top
cp data top/a
cp data top/b
hemstitch -dfqv data.lz4
hemstitch -vfq data
hemstitch -rqv top
hemstitch -lvq data.lz4 | wc -l
