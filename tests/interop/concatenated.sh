#!/usr/bin/env bash
# What stands behind a frame of ours is found by those who read it: frames one behind the other, as `cat`, `>>` and machines that
# each write a part make them. The lz4 tool of version 1.9.4 takes 4 bytes too many where a frame's last byte does not stand apart
# (src/format/lz4/frame/lz4_frame_layout.hpp). Also Python's lz4.frame, where it is installed.
#
#   concatenated.sh HEMSTITCH
set -euo pipefail
hemstitch=$1
if ! command -v lz4 > /dev/null; then
  echo "skipped: the lz4 tool is not installed"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# Half of it does not shrink, so that blocks are compressed and still long.
{
  head -c 200000 /dev/urandom
  seq 1 40000
  head -c 200000 /dev/urandom
  seq 1 200000
} > source
# No block apart, one, two and three blocks of 64 KB and of 256 KB: exact multiples, a byte more and less.
sizes=(0 1 1000 61440 61441)
block_counts=(1 2 3)
if [[ -n ${HEMSTITCH_SANITIZE:-} ]]; then block_counts=(1 2); fi
for block in 65536 262144; do
  for count in "${block_counts[@]}"; do
    for more in -1 0 1 2; do sizes+=($((count * block + more))); done
  done
done
mkdir parts
for size in "${sizes[@]}"; do
  dd if=source of="parts/$size" iflag=skip_bytes,count_bytes skip=170000 count="$size" bs=64K status=none
done
seq 1 1000 > parts/behind
"$hemstitch" -q parts/behind -o behind.lz4

# read_behind WHAT FRAME CONTENT: what stands behind FRAME is read, by all.
count=0
read_behind() {
  cat "$2" behind.lz4 > both.lz4
  cat "$3" parts/behind > both
  lz4 -q -t both.lz4 || fail "lz4 -t: $1"
  # shellcheck disable=SC2002  # as people write it
  cat both.lz4 | lz4 -dc > restored || fail "lz4 -d: $1"
  cmp -s both restored || fail "lz4 -d gives something else: $1"
  cat both.lz4 >> all.lz4
  cat both >> all
  count=$((count + 1))
}
: > all.lz4
: > all

for size in "${sizes[@]}"; do
  part=parts/$size
  for options in "-B4" "" "-B4 --linked" "--linked -D source" "-D source" "-B4 --check=content" "--no-check" "-9"; do
    # shellcheck disable=SC2086  # several options
    "$hemstitch" -q $options -c "$part" > frame.lz4
    if [[ $options == *-D* ]]; then
      cat frame.lz4 <("$hemstitch" -q -D source -c parts/behind) > both.lz4
      lz4 -dc -D source both.lz4 | cmp -s - <(cat "$part" parts/behind) || fail "lz4 -d -D: $options, $size bytes"
      count=$((count + 1))
    else
      read_behind "$options, $size bytes" frame.lz4 "$part"
    fi
  done
  "$hemstitch" -q < "$part" > frame.lz4
  read_behind "a pipe, $size bytes" frame.lz4 "$part"
  "$hemstitch" -q -B4 --linked < "$part" > frame.lz4
  read_behind "a pipe of linked blocks, $size bytes" frame.lz4 "$part"
  "$hemstitch" -q --reproducible -c "$part" > frame.lz4
  read_behind "the twins, $size bytes" frame.lz4 "$part"
done
"$hemstitch" -q -r -B4 parts
for size in "${sizes[@]}"; do read_behind "-r, $size bytes" "parts/$size.lz4" "parts/$size"; done
# A file that grows by a frame at a time, with a seek table behind: a skippable frame.
for size in "${sizes[@]}"; do "$hemstitch" -q -c "parts/$size" >> grown.lz4; done
printf '\x5E\x2A\x4D\x18\x04\0\0\0seek' >> grown.lz4
(cd parts && cat "${sizes[@]}") > grown
lz4 -dc grown.lz4 | cmp - grown || fail "a file that grew"
"$hemstitch" -dc grown.lz4 | cmp - grown || fail "a file that grew, by ourselves"
lz4 -dc all.lz4 | cmp - all || fail "all frames in one file"

python=
for candidate in python3 /usr/bin/python3; do
  if "$candidate" -c 'import lz4.frame' 2> /dev/null; then python=$candidate; fi
done
if [[ -n $python ]]; then
  "$python" -c '
import lz4.frame, sys
for name in ("all", "grown"):
    with open(name, "rb") as file: content = file.read()
    with lz4.frame.open(name + ".lz4") as frames: restored = frames.read()
    if restored != content: sys.exit("FAILED: lz4.frame.open of " + name)
' || fail "Python's lz4.frame"
else
  echo "Python's lz4.frame: skipped, python3-lz4 is not installed"
fi
echo "$count concatenations are read"
