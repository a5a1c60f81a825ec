# label: once
# Small blocks, frames and header fields cost no call of the system each. Shown: whether there are fewer calls than one for 8 of them.
needs python3
needs_watching
python3 - <<'END'
import gzip, struct
count = 20000
head, linked = bytes.fromhex("04224d18604082"), bytes.fromhex("04224d184040c0")
def block(number):
    text = b"message %06d\n" % number
    return struct.pack("<I", 0x80000000 | len(text)) + text
def write(name, *parts):
    with open(name, "wb") as file:
        for part in parts:
            file.write(part)
blocks = [block(number) for number in range(count)]
write("blocks.lz4", head, *blocks, bytes(4))
write("linked.lz4", linked, *blocks, bytes(4))
write("frames.lz4", *(head + one + bytes(4) for one in blocks))
write("skippable.lz4", *[struct.pack("<II", 0x184D2A50, 8) + b"8 bytes."] * count, head, bytes(4))
write("members.gz", *[gzip.compress(b"a message\n", 1)] * count)
member = gzip.compress(b"content", 1)
write("name.gz", member[:3] + bytes([8]) + member[4:10] + b"n" * count + bytes(1) + member[10:])
END
for file in *.lz4 *.gz; do
  for options in '-dc -T1' '-dc -T4' -t -l '-dc --range -5'; do
    # shellcheck disable=SC2086
    HEMSTITCH_WATCH_COUNT=$PWD/counts watched hemstitch $options "$file" >/dev/null
    read -r reads writes <counts
    ((reads < 2500 && writes < 2500)) && echo "$file $options: few" || echo "$file $options: $reads reads, $writes writes"
  done
done
# The same from a pipe, which comes in pieces of 64 KB.
for file in blocks.lz4 frames.lz4 members.gz; do
  HEMSTITCH_WATCH_COUNT=$PWD/counts watched hemstitch -dc <"$file" >/dev/null
  read -r reads writes <counts
  ((reads < 2500 && writes < 2500)) && echo "stdin $file: few" || echo "stdin $file: $reads reads, $writes writes"
done
