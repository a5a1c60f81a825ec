#!/usr/bin/env bash
# What hemstitch writes, lz4 reads, and the other way round: over block sizes, levels, checksums, linked blocks,
# dictionaries, legacy frames, files and pipes. With HEMSTITCH_CORPORA set, every real file in it as well.
#
#   lz4_tool.sh HEMSTITCH
set -euo pipefail
hemstitch=$1
if ! command -v lz4 > /dev/null; then
  echo "skipped: the lz4 tool is not installed"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# Files that any machine can make: nothing, a byte, text, noise, runs, and sizes around a block's border.
: > empty
printf 'x' > byte
seq 1 200000 > numbers
head -c 300000 /dev/urandom > noise
head -c 5000000 /dev/zero > zeros
cat numbers noise zeros numbers > mixed
head -c 65535 mixed > below
head -c 65536 mixed > block
head -c 65537 mixed > above
files=(empty byte numbers noise zeros mixed below block above)
if [[ -n ${HEMSTITCH_SANITIZE:-} ]]; then files=(empty mixed above); fi

fail() {
  echo "FAILED: $*" >&2
  exit 1
}
# same FILE WHAT: standard input must be FILE.
same() {
  cmp -s - "$1" || fail "$2 of $1"
  echo "$2" >> agreed
}

# blocks_of FILE: every size of blocks for the file with all kinds of content, the least and the largest for long ones; the others are
# about as long as the least.
blocks_of() {
  case $1 in
    mixed) echo 4 5 6 7 ;;
    numbers | zeros) echo 4 7 ;;
    *) echo 4 ;;
  esac
}

for file in "${files[@]}"; do
  for level in -1 -2 -3 -9 -12 --fast=7; do
    "$hemstitch" -q "$level" -c "$file" | lz4 -dc | same "$file" "hemstitch $level | lz4 -d"
    lz4 -q "$level" -c "$file" | "$hemstitch" -dc | same "$file" "lz4 $level | hemstitch -d"
  done
  for block in $(blocks_of "$file"); do
    for linked in "" linked; do
      for checks in "" --check=content --no-check; do
        "$hemstitch" -q -B"$block" ${linked:+--linked} $checks -c "$file" > ours.lz4
        lz4 -q -t ours.lz4 || fail "lz4 -t of hemstitch -B$block $linked $checks $file"
        lz4 -dc ours.lz4 | same "$file" "hemstitch -B$block $linked $checks | lz4 -d"
      done
      rm -f theirs.lz4
      for checks in "" -BX --no-frame-crc --content-size; do
        # lz4 1.9.4 fails on its own with -B4 and a few bytes less than 64 KB ("ERROR_dstMaxSize_tooSmall").
        lz4 -q -B"$block" ${linked:+-BD} $checks -f "$file" theirs.lz4 2> /dev/null || [[ $file == below ]] || fail "lz4 $file"
        [[ -s theirs.lz4 ]] || continue
        "$hemstitch" -q -t theirs.lz4 || fail "hemstitch -t of lz4 -B$block $linked $checks $file"
        "$hemstitch" -dc theirs.lz4 | same "$file" "lz4 -B$block $linked $checks | hemstitch -d"
      done
    done
  done
  if [[ -s $file ]]; then  # lz4 writes no legacy frame for an empty input that lz4 itself would read
    lz4 -q -l -c "$file" | "$hemstitch" -dc | same "$file" "lz4 -l | hemstitch -d"
  fi
  "$hemstitch" -q -D numbers -c "$file" | lz4 -dc -D numbers | same "$file" "hemstitch -D | lz4 -d -D"
  lz4 -q -D numbers -c "$file" | "$hemstitch" -dc -D numbers | same "$file" "lz4 -D | hemstitch -d -D"
  # shellcheck disable=SC2094  # the comparison only reads
  "$hemstitch" -q - < "$file" | lz4 -d | same "$file" "a pipe through hemstitch and lz4"
  # shellcheck disable=SC2094
  lz4 -q < "$file" | "$hemstitch" -d | same "$file" "a pipe through lz4 and hemstitch"
done

cat <("$hemstitch" -c numbers) <(lz4 -c noise) <(lz4 -lc mixed) <("$hemstitch" -c byte) > many.lz4
cat numbers noise mixed byte > many
"$hemstitch" -dc many.lz4 | same many "concatenated frames of both tools"

if [[ -n ${HEMSTITCH_CORPORA:-} ]]; then
  while IFS= read -r -d '' file; do
    "$hemstitch" -q -c "$file" | lz4 -dc | same "$file" "hemstitch | lz4 -d"
    lz4 -q -9 -BD -c "$file" | "$hemstitch" -dc | same "$file" "lz4 -9 -BD | hemstitch -d"
  done < <(find "$HEMSTITCH_CORPORA" -type f -print0)
else
  echo "real files: skipped, HEMSTITCH_CORPORA is not set"
fi
echo "$(wc -l < agreed) round trips agree"
