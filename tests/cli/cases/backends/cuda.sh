# Files through the GPU, both ways and mixed with the CPU, where there is one.
if ! hemstitch backends | grep -q '^cuda  *usable'; then
  echo 'skipped: no CUDA device here'
  exit 77
fi
needs lz4
text 300000 >data
for level in 1 3 12; do
  for linked in '' --linked; do
    # shellcheck disable=SC2086
    hemstitch -f --backend cuda -$level -B64K $linked data -o gpu.lz4
    # shellcheck disable=SC2086
    hemstitch -f --backend reference -$level -B64K $linked data -o twin.lz4
    same gpu.lz4 twin.lz4
    lz4 -dqc gpu.lz4 | cmp - data
    hemstitch -dc --backend cpu gpu.lz4 | cmp - data
  done
done
for options in -B4 -B7 '-B4D -9'; do
  # shellcheck disable=SC2086
  lz4 -qc $options data | hemstitch -d --backend cuda | cmp - data
done
hemstitch -dc --backend cuda --range 100000-100050 gpu.lz4 | cmp - <(tail -c +100001 data | head -c 50)
# A tree of small files, many at a time, and one that is larger than that.
mkdir tree
for number in $(seq 1000); do text "$number" >"tree/$number"; done
: >tree/nothing
text 1500000 >tree/large
cp -r tree alone
hemstitch -rq --backend cuda -1 tree
for file in alone/*; do hemstitch -q --backend reference -1 "$file"; done
diff -r alone tree && echo "the same: $(find tree -name '*.lz4' | wc -l) files"
find tree -type f ! -name '*.lz4' -delete
hemstitch -drq --rm --backend cuda tree
find alone -name '*.lz4' -delete
diff -r alone tree && echo 'and back'
# BGZF block by block; a stream by the processor, which is told; every format verified where it was made.
for format in bgzf gzip zlib deflate; do
  hemstitch -f --backend cuda --verify --format $format data -o gpu.$format
  hemstitch -f --backend reference --format $format data -o twin.$format
  same gpu.$format twin.$format
  hemstitch -dcq --backend cuda --format $format gpu.$format | cmp - data
done
for options in -1 -3 -5 -10 -16 '-3 --seekable=128K' '-5 -B1M'; do
  # shellcheck disable=SC2086
  hemstitch -f --backend cuda --verify --format zstd $options data -o gpu.zst
  # shellcheck disable=SC2086
  hemstitch -f --backend reference --format zstd $options data -o twin.zst
  same gpu.zst twin.zst
  hemstitch -dc --backend cpu gpu.zst | cmp - data
done
hemstitch -t --backend cuda gpu.bgzf
hemstitch -dc --backend cuda --range 100000-100050 gpu.bgzf | cmp - <(tail -c +100001 data | head -c 50)
hemstitch search -zc --backend cuda the gpu.bgzf >on_device || true
hemstitch search -zc --backend cpu the gpu.bgzf | cmp - on_device
hemstitch bench --backend cuda --seconds 0 -1 --span kernel --format bgzf data | awk 'END { print $1, $2, $NF }'
hemstitch -rq --format gzip alone
find alone -type f ! -name '*.gz' -delete
cp -r alone members
hemstitch -drq --rm --format gzip --backend cuda alone
hemstitch -drq --rm --format gzip --backend cpu members
diff -r alone members && echo 'and from gzip'
head -c 100000 gpu.lz4 >cut.lz4
status_of hemstitch -t --backend cuda cut.lz4
hemstitch bench --backend cuda --seconds 0 -1 --span kernel data | awk 'END { print $1, $2, $NF }'
hemstitch bench --backend cuda --seconds 0 -1 --span pinned data | awk 'END { print $1, $2, $NF }'
# Of a format that writes streams, blocks that each end one.
hemstitch bench --backend cuda --seconds 0 -6 --span kernel --format deflate data | awk 'END { print $1, $2, $NF }'
hemstitch bench --backend cuda --seconds 0 -6 --span pinned --format gzip data | awk 'END { print $1, $2, $NF }'
