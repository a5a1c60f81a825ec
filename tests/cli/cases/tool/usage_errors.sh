echo x >data
# Which backends there are depends on the build.
try() { status_of hemstitch "$@" 2>&1 | sed -E "s/(build are auto, cpu).* \(/\1... (/"; }
try --nonsense
try --nonsense=1
try -x
try -dx
try -23 data
try -13 data
try -99999999999 data
try --level x data
try --fast=0 data
try -B 5K data
try -B8 data
try -T x data
try -T -1 data
try --memory 0 data
try --memory 1X data
try --memory 99999999999G data
try --backend nonsense data
try --reproducible --backend cpu data
try --format xz data
try -o data.xz data
try --format gzip -B 64K data
try --format bgzf --linked data
try --format zlib --check data
try --format gzip --no-check data
try -D data data -o data.gz
try --format deflate --fast data
try --format deflate data
try --format deflate -r .
try --format zlib -N data
try -N data
try --format zlib --index data
try --format bgzf --index -c data
try --format bgzf --index
try --check=all data
try --check --no-check data
try --range 5 -dc data
try --range 9-5 -dc data
try --range a-b -dc data
try --range - -dc data
try --range -5X -dc data
try --range 5-- -dc data
try --range -5 data
try --range 0-1 data
try --range 0-1 -d data.lz4
try --rm -k data
try --rm -c data
try --rm -t data
try --rm -l data
try --rm -d --range 0-1 data.lz4 -o x
try --rm data -o -
try --rm data -o /dev/null
try --rm data -
try --rm
try -o x data data
try -o x -c data
try -o x -r data
try -t -o x data
try --json data
try -o
try data --output=
try -d=1 data
try --rm=yes data
try --no-sparse=1 data
try -r
try --device 0 data
try -vv backends
try data bench
try backends data
try bench --seconds x
try bench --compare one
names
