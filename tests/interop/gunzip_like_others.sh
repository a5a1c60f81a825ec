#!/usr/bin/env bash
# What gzip, pigz, igzip, bgzip and Python write is restored, whole, in lists and in parts; and what gzip refuses of damaged files is refused.
# With HEMSTITCH_CORPORA set, real files as well.
#
#   gunzip_like_others.sh HEMSTITCH
set -euo pipefail
hemstitch=$1
if ! command -v gzip > /dev/null || ! command -v python3 > /dev/null; then
  echo "skipped: gzip or python3 is not installed"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() {
  echo "FAILED: $*" >&2
  exit 1
}
has() { command -v "$1" > /dev/null; }

: > empty
printf x > byte
seq 1 100000 > numbers
head -c 300000 /dev/urandom > noise
head -c 3000000 /dev/zero > zeros
files=(empty byte numbers noise zeros)
masks=(1 16 128)
if [[ -n ${HEMSTITCH_SANITIZE:-} ]]; then masks=(16); fi
# Real files: the first megabyte of each by every writer, the whole by the fastest, since writing takes longer than what is tested.
large=()
if [[ -n ${HEMSTITCH_CORPORA-} ]]; then
  for file in "$HEMSTITCH_CORPORA"/{silesia,canterbury}/*; do
    [[ -f $file ]] || continue
    large+=("$file")
    head -c 1000000 "$file" > "begin of ${file##*/}"
    files+=("begin of ${file##*/}")
  done
fi

# restored FILE WRITER: what stands in file.z is FILE.
restored() {
  "$hemstitch" -t -q "${@:3}" file.z || fail "-t of $1 by $2"
  "$hemstitch" -dcq "${@:3}" file.z | cmp -s - "$1" || fail "-dc of $1 by $2"
  "$hemstitch" -dcq -T1 "${@:3}" < file.z | cmp -s - "$1" || fail "a pipe with $1 by $2"
}
# by_turns OPTION...: all of them for made files; for a real one, or under sanitizers, the next of them, so that each meets several.
by_turns() {
  options=("$@")
  if [[ $file == "begin of "* || -n ${HEMSTITCH_SANITIZE:-} ]]; then options=("${@:turn % $# + 1:1}"); fi
}
turn=0
for file in "${files[@]}"; do
  turn=$((turn + 1))
  by_turns 1 6 9
  for level in "${options[@]}"; do
    gzip "-$level" -c "$file" > file.z
    restored "$file" "gzip -$level"
  done
  by_turns 1 6 11
  for level in "${options[@]}"; do
    if has pigz && [[ $level != 11 || $(wc -c < "$file") -lt 400000 ]]; then
      pigz "-$level" -c "$file" > file.z
      restored "$file" "pigz -$level"
    fi
  done
  if has pigz; then
    pigz -zc "$file" > file.z
    restored "$file" "pigz -z" --format zlib
  fi
  by_turns 0 1 2 3
  for level in "${options[@]}"; do
    if has igzip && [[ -s $file ]]; then
      igzip "-$level" -c "$file" > file.z
      restored "$file" "igzip -$level"
    fi
  done
  if has bgzip; then
    bgzip -c "$file" > file.z
    restored "$file" bgzip
  fi
  python3 -c 'import gzip, sys; sys.stdout.buffer.write(gzip.compress(open(sys.argv[1], "rb").read()))' "$file" > file.z
  restored "$file" "Python's gzip"
  python3 -c 'import zlib, sys; c = zlib.compressobj(9, 8, -15); d = open(sys.argv[1], "rb").read()
sys.stdout.buffer.write(c.compress(d) + c.flush())' "$file" > file.z
  restored "$file" "Python's raw DEFLATE" --format deflate
done

for file in ${large[@]+"${large[@]}"}; do
  gzip -1c "$file" > file.z
  restored "$file" "gzip -1"
  if has bgzip; then
    bgzip -l1 -@2 -c "$file" > file.z
    restored "$file" bgzip
  fi
done

# Members one behind the other, of every writer.
{ gzip -c numbers && gzip -c empty && gzip -c noise; } > file.z
cat numbers empty noise > whole
restored whole "three members"
if has bgzip; then
  { bgzip -c numbers && gzip -c noise && bgzip -c numbers; } > file.z
  cat numbers noise numbers > whole
  restored whole "BGZF and gzip"
  bgzip -c noise > part.gz
  bgzip -r part.gz
  for range in 0-10 65279-65281 100000-200000 299999-300000; do
    from=${range%-*} to=${range#*-}
    bgzip -c -b "$from" -s $((to - from)) part.gz | cmp -s - <("$hemstitch" -dc --range "$range" part.gz) ||
      fail "--range $range"
  done
fi

# The verdict of gzip: 0, or 2 for a warning, or an error.
gzip -c byte > small.gz
python3 - "${masks[@]}" << 'PYTHON'
import sys
data = open("small.gz", "rb").read()
for at in range(len(data)):
    for mask in map(int, sys.argv[1:]):
        open(f"damaged.{at}.{mask}.gz", "wb").write(data[:at] + bytes([data[at] ^ mask]) + data[at + 1:])
PYTHON
for at in $(seq 0 $(($(wc -c < small.gz) - 1))); do
  for mask in "${masks[@]}"; do
    theirs=0 ours=0
    gzip -t "damaged.$at.$mask.gz" 2> /dev/null || theirs=$?
    "$hemstitch" -tq "damaged.$at.$mask.gz" 2> /dev/null || ours=$?
    # gzip 1.12 takes bytes that zlib does not: names that go on to the end, say. It is no stricter than we are.
    [[ $ours != 0 || $theirs == 0 ]] || fail "byte $at, $mask: gzip says $theirs, hemstitch $ours"
  done
done
echo "agreed"
