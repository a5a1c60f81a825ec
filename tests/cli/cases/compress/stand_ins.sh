# label: once
# igzip, unpigz and bgzip -d: the scripts that take their place end with 0 where these programs do, with the same content, and with an
# error where they do. Only differences are printed: pigz takes a header that is cut off or unknown for other bytes, and igzip does not;
# it restores zlib, too; and for bgzip zeros after the blocks are damage.
needs gzip igzip pigz bgzip python3
own=$HEMSTITCH_SOURCE/cli/libexec
cp "$own/igzip" unpigz
mkdir inputs
python3 - <<'PYTHON'
import gzip, struct, zlib

def member(data, head=b"\x1f\x8b\x08\0\0\0\0\0\0\3", raw=None):
    if raw is None:
        packer = zlib.compressobj(6, 8, -15)
        raw = packer.compress(data) + packer.flush()
    return head + raw + struct.pack("<II", zlib.crc32(data), len(data) & 0xFFFFFFFF)

def block(data, raw=None):
    size = len(member(data, raw=raw)) + 8
    return member(data, b"\x1f\x8b\x08\4\0\0\0\0\0\xff\6\0BC\2\0" + struct.pack("<H", size - 1), raw)

text = b"".join(b"%d\n" % number for number in range(50000))
pieces = [text[at:at + 65280] for at in range(0, len(text), 65280)]
plain, blocks, marker = member(text), b"".join(map(block, pieces)), block(b"")
assert len(marker) == 28
tails = {"nothing": b"", "line break": b"\n", "one byte": b"x", "two bytes": b"xy", "three bytes": b"xyz", "text": b"some bytes after the layer",
         "much text": text, "zero": b"\0", "zeros": bytes(10000), "zeros and text": bytes(4) + b"junk", "an older magic number": b"\x1f\x9e",
         "one byte of a header": b"\x1f", "two bytes of a header": b"\x1f\x8b", "three bytes of a header": b"\x1f\x8b\x08", "a cut header": plain[:8],
         "another method": b"\x1f\x8b\x07\0" + bytes(20), "a reserved flag": b"\x1f\x8b\x08\xe0" + bytes(20), "only a header": plain[:10],
         "a cut member": plain[:500], "a member": plain, "an empty member": member(b""), "a block": block(b"more"), "a marker": marker,
         "LZ4": b"\x04\x22\x4d\x18\x40\x40\xc0\0\0\0\0"}
files = {f"{name} and {tail}": data + more for name, data in (("a member", plain), ("BGZF", blocks + marker), ("BGZF without marker", blocks))
         for tail, more in tails.items()}
files |= {"no bytes": b"", "text": text, "one byte": b"x", "zlib": zlib.compress(text), "a header": plain[:10], "a byte of a header": b"\x1f",
          "an empty member": member(b""), "a marker alone": marker,
          "a stored block in the marker's place": blocks + block(b"", b"\1\0\0\xff\xff"),
          "name and comment": member(text, b"\x1f\x8b\x08\x1c\0\0\0\0\0\3\3\0abcname\0comment\0"),
          "a wrong checksum": plain[:-8] + bytes([plain[-8] ^ 1]) + plain[-7:], "a wrong size": plain[:-4] + bytes([plain[-4] ^ 1]) + plain[-3:],
          "a wrong checksum in BGZF": blocks[:-8] + bytes([blocks[-8] ^ 1]) + blocks[-7:] + marker,
          "a cut trailer": plain[:-3], "half a member": plain[:len(plain) // 2], "half of BGZF": blocks[:len(blocks) // 2],
          "a reserved block": plain[:10] + b"\7" + plain[11:], "text before a member": b"text" + plain}
for number, (name, data) in enumerate(sorted(files.items())):
    with open(f"inputs/{number:03}", "wb") as file:
        file.write(data)
    with open(f"inputs/{number:03}.name", "w") as file:
        file.write(name)
PYTHON

# compare PROGRAM OURS...: what the program does with each input, and what ours does.
compare() {
  local program=$1 file theirs ours
  shift
  for file in inputs/???; do
    theirs=0 ours=0
    "$program" -d -c <"$file" >theirs 2>/dev/null || theirs=$?
    "$@" -d -c <"$file" >ours 2>/dev/null || ours=$?
    ((theirs == 0)) || theirs=1
    if [[ $theirs != "$ours" ]]; then
      echo "$program, $(<"$file.name"): $theirs, here $ours"
    elif [[ $theirs == 0 ]] && ! cmp -s theirs ours; then
      echo "$program, $(<"$file.name"): other content"
    fi
  done
  echo "$program: $(find inputs -name '???' | wc -l) inputs"
}
compare igzip sh "$own/igzip"
compare pigz sh unpigz
compare bgzip sh "$own/bgzip"

# Files: a missing end marker is a warning, and FILE.gz stays, since it may have been cut off; other bytes are an error.
text 1000 | bgzip | head -c -28 >cut.gz
{ text 1000 | bgzip; echo more; } >more.gz
status_of sh "$own/bgzip" -t cut.gz
status_of sh "$own/bgzip" -d cut.gz
status_of sh "$own/bgzip" -b 3889 -s 5 -c cut.gz
text 1000 | cmp - cut
status_of sh "$own/bgzip" -t more.gz 2>&1 | sed -E 's/byte [0-9]+/byte N/'
status_of sh "$own/bgzip" -d more.gz 2>/dev/null
rm -r inputs
names
