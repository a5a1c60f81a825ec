text 100000 >data
numbers() { sed -E 's/[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?/N/g; s/N MB\/s/N GB\/s/' "$1"; }
hemstitch -vT2 data 2>stderr
numbers stderr
hemstitch -dvc -T1 data.lz4 2>stderr | cmp - data
numbers stderr
hemstitch -tv data.lz4 2>stderr
numbers stderr
hemstitch -dfqv data.lz4 2>stderr
numbers stderr
