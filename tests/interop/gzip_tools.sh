#!/usr/bin/env bash
# What hemstitch writes as gzip, BGZF, zlib and raw DEFLATE is read by those who read these formats: gzip, pigz, igzip, bgzip with tabix
# and samtools, Python. Over levels, sizes around a block's border, files and pipes. With HEMSTITCH_CORPORA set, every real file in
# it as well.
#
#   gzip_tools.sh HEMSTITCH
set -euo pipefail
hemstitch=$1
if ! command -v gzip > /dev/null || ! command -v python3 > /dev/null; then
  echo "skipped: gzip or python3 is not installed"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

: > empty
printf 'x' > byte
seq 1 200000 > numbers
head -c 300000 /dev/urandom > noise
head -c 5000000 /dev/zero > zeros
cat numbers noise zeros numbers > mixed
cat noise noise noise noise > repeated_noise
head -c 1048575 mixed > below
head -c 1048576 mixed > block
head -c 1048577 mixed > above
head -c 65280 mixed > bgzf_block
head -c 65281 mixed > bgzf_above
files=(empty byte numbers noise zeros mixed repeated_noise below block above bgzf_block bgzf_above)
if [[ -n ${HEMSTITCH_SANITIZE:-} ]]; then files=(empty mixed bgzf_above); fi

fail() {
  echo "FAILED: $*" >&2
  exit 1
}
# same FILE WHAT: standard input must be FILE.
same() {
  cmp -s - "$1" || fail "$2 of $1"
  echo "$2" >> agreed
}
has() { command -v "$1" > /dev/null; }

# Python's modules: gzip takes any number of members, zlib and DEFLATE are one stream each, and all of it.
python_restores() {
  python3 -c '
import gzip, sys, zlib
data = sys.stdin.buffer.read()
if sys.argv[1] == "gzip":
    content = gzip.decompress(data)
else:
    stream = zlib.decompressobj(15 if sys.argv[1] == "zlib" else -15)
    content = stream.decompress(data) + stream.flush()
    if not stream.eof or stream.unused_data: sys.exit("the stream does not end where the data does")
sys.stdout.buffer.write(content)' "$1"
}

# read_by_all FILE COMPRESSED WHAT: gzip's or BGZF's.
read_by_all() {
  gzip -dc < "$2" | same "$1" "$3 | gzip -d"
  python_restores gzip < "$2" | same "$1" "$3 | python gzip"
  if has pigz; then pigz -dc < "$2" | same "$1" "$3 | pigz -d"; fi
  if has igzip; then igzip -dc < "$2" | same "$1" "$3 | igzip -d"; fi
}

# levels_of FILE: every level with every kind of block in it, two levels by turns for the other files.
turn=0
levels_of() {
  turn=$((turn + 1))
  case $1:$((turn % 2)) in
    mixed:*) levels=(1 2 6 12) ;;
    *:0) levels=(1 12) ;;
    *) levels=(2 6) ;;
  esac
}

for file in "${files[@]}"; do
  levels_of "$file"
  for level in "${levels[@]}"; do
    "$hemstitch" -q --format gzip -"$level" -c "$file" > ours.gz
    read_by_all "$file" ours.gz "hemstitch --format gzip -$level"
    "$hemstitch" -q --format bgzf -"$level" -c "$file" > ours.gz
    read_by_all "$file" ours.gz "hemstitch --format bgzf -$level"
    if has bgzip; then bgzip -dc < ours.gz | same "$file" "hemstitch --format bgzf -$level | bgzip -d"; fi
    for format in zlib deflate; do
      "$hemstitch" -q --format "$format" -"$level" -c "$file" | python_restores "$format" |
        same "$file" "hemstitch --format $format -$level | python"
    done
  done
  # From a pipe, and by any number of threads, the bytes are the same.
  for format in gzip bgzf zlib deflate; do
    "$hemstitch" -q --format $format -c "$file" > ours
    "$hemstitch" -q --format $format < "$file" | cmp -s - ours || fail "--format $format of $file from a pipe"
    for threads in 1 7; do
      "$hemstitch" -q --format $format -T$threads -c "$file" | cmp -s - ours || fail "--format $format -T$threads of $file"
    done
  done
done

# gzip takes what -N stored for its own.
touch -d '2001-02-03 04:05:06 UTC' numbers
"$hemstitch" -q --format gzip -N numbers -o named.gz
(mkdir named && cd named && gzip -dN < ../named.gz > /dev/null && cp ../named.gz . && gzip -qdN named.gz && cmp -s numbers ../numbers &&
  [[ $(stat -c %Y numbers) == "$(stat -c %Y ../numbers)" ]]) || fail "gzip -dN of what -N stored"
"$hemstitch" -q --format gzip numbers -c | gzip -lv > /dev/null || fail "gzip -l"

# A dictionary of zlib.
head -c 20000 noise > dictionary
tail -c 3000 dictionary > piece
"$hemstitch" -q --format zlib -D dictionary -c piece > piece.zz
[[ $(stat -c %s piece.zz) -lt 300 ]] || fail "a dictionary is of no use"
python3 -c '
import sys, zlib
stream = zlib.decompressobj(zdict=open("dictionary", "rb").read())
sys.stdout.buffer.write(stream.decompress(open("piece.zz", "rb").read()))' | same piece "hemstitch --format zlib -D | python zlib"

# bgzip's index of our file is the one that --index writes; tabix and samtools go by places in it.
if has bgzip; then
  for file in "${files[@]}"; do
    [[ $file != empty ]] || continue  # of which bgzip 1.16 writes an index of 2^64 - 1 entries
    "$hemstitch" -q --format bgzf --index "$file" -o indexed.gz -f
    mv indexed.gz.gzi ours.gzi
    bgzip -r indexed.gz
    cmp -s indexed.gz.gzi ours.gzi || fail "--index of $file"
  done
  "$hemstitch" -q --format bgzf --index mixed -o indexed.gz -f
  bgzip -b 1500000 -s 1000 indexed.gz | cmp -s - <(tail -c +1500001 mixed | head -c 1000) || fail "bgzip -b with our index"
fi
if has tabix; then
  {
    echo '##fileformat=VCFv4.2'
    printf '##contig=<ID=chr1>\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n'
    seq 1 7 400000 | awk -v OFS='\t' '{ print "chr1", $1, "id" $1, "A", "C", $1 % 97, "PASS", "." }'
  } > calls.vcf
  "$hemstitch" -q --format bgzf calls.vcf
  tabix -p vcf calls.vcf.gz || fail "tabix of our BGZF"
  tabix calls.vcf.gz chr1:200000-200100 | cmp -s - <(awk '!/^#/ && $2 >= 200000 && $2 <= 200100' calls.vcf) || fail "a region by tabix"
  echo tabix >> agreed
else
  echo "tabix: skipped, it is not installed"
fi
if has samtools; then
  {
    printf '@HD\tVN:1.6\tSO:coordinate\n@SQ\tSN:chr1\tLN:1000000\n'
    seq 1 11 400000 | awk -v OFS='\t' '{ print "read" $1, 0, "chr1", $1, 60, "10M", "*", 0, 0, "ACGTACGTAC", "IIIIIIIIII" }'
  } > reads.sam
  samtools view -u -o plain.bam reads.sam
  bgzip -dc plain.bam > bam_content
  "$hemstitch" -q --format bgzf bam_content -o reads.bam
  samtools quickcheck reads.bam || fail "samtools quickcheck of our BAM"
  samtools index reads.bam || fail "samtools index of our BAM"
  samtools view reads.bam chr1:200000-200050 | cmp -s - <(samtools view plain.bam | awk '$4 + 9 >= 200000 && $4 <= 200050') ||
    fail "a region by samtools"
  echo samtools >> agreed
else
  echo "samtools: skipped, it is not installed"
fi

# Every real file, at the default level.
if [[ -n ${HEMSTITCH_CORPORA:-} ]]; then
  while IFS= read -r file; do
    for format in gzip bgzf; do
      "$hemstitch" -q --format $format -c "$file" | gzip -dc | same "$file" "hemstitch --format $format | gzip -d"
    done
  done < <(find "$HEMSTITCH_CORPORA" -type f -size -12M)
fi
echo "$(wc -l < agreed) times everybody agreed"
