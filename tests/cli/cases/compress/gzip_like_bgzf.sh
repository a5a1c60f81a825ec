# gzip whose extra field looks like that of BGZF, with other sizes than its members have: restored as gzip restores it, from a file, from a pipe,
# in parts, listed, searched, among many files. And what may stand in the place of BGZF's end marker.
needs gzip python3
text 15000 >data
python3 - <<'MAKE'
import struct, zlib
def member(d, delta=0, level=6):
    c = zlib.compressobj(level, 8, -15); raw = c.compress(d) + c.flush()
    return (b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0BC\x02\0" + struct.pack("<H", (12 + 6 + len(raw) + 8 - 1 + delta) & 0xffff) + raw
            + struct.pack("<II", zlib.crc32(d), len(d)))
text = open("data", "rb").read()
part, end = text[:20000], member(b"")
stored = member(b"", level=0)
files = {"content": member(text) + end, "large": member(part) + member(part, 1) + member(part) + end, "small": member(part, -1) + member(part) + end,
         "middle": member(part) * 9 + member(part, 1000) + member(part) + end, "past": member(part, 30000), "last": member(part) + member(part, 1),
         "stored_end": member(part) + stored}
for name, bytes in files.items(): open(name + ".gz", "wb").write(bytes)
open("missing.gz", "wb").write(member(part) * 3)
MAKE
cat missing.gz <(gzip -c </dev/null) >empty_end.gz
cat missing.gz <(gzip -c data) missing.gz stored_end.gz >mixed.gz
check() { # FILE
  gzip -dc "$1" >expected 2>/dev/null
  hemstitch -dc "$1" | cmp - expected || echo "$1"
  hemstitch -dc - <"$1" | cmp - expected || echo "$1 from stdin"
  cat "$1" | hemstitch -dc | cmp - expected || echo "$1 from a pipe"
  hemstitch -dc --format gzip "$1" | cmp - expected || echo "$1 as gzip"
  hemstitch -t "$1" || echo "-t $1"
  hemstitch -l --json "$1" | grep -q "\"content_bytes\":$(stat -c %s expected)," || hemstitch -l --json "$1"
  for begin in 0 19990 25000; do
    [[ $begin -lt $(stat -c %s expected) ]] || continue
    hemstitch -dc --range $begin-$((begin + 30)) "$1" | cmp - <(tail -c +$((begin + 1)) expected | head -c 30) || echo "$begin of $1"
    cat "$1" | hemstitch -dc --range $begin-$((begin + 30)) | cmp - <(tail -c +$((begin + 1)) expected | head -c 30) || echo "$begin of $1 from a pipe"
  done
  hemstitch search -zc 99 "$1" | cmp - <(grep -c 99 expected) || echo "search $1"
}
for file in content large small middle past last; do check $file.gz; done
for file in stored_end empty_end mixed; do
  gzip -dc $file.gz | cmp - <(hemstitch -dc $file.gz)
  status_of hemstitch -t $file.gz
done
status_of hemstitch -t missing.gz
# Where BGZF is asked for, it is judged.
for file in content large past; do status_of hemstitch -tq --format bgzf $file.gz 2>&1 | sed -E 's/[0-9]{3,}/N/g'; done
# Among many files.
mkdir tree
cp content.gz large.gz middle.gz tree
hemstitch -d -r --format gzip tree
for file in content large middle; do gzip -dc $file.gz | cmp - tree/$file; done
