# label: threads
needs gzip python3
text 20000 >data
cp data kept
gzip -n data
# Restored to the name without the suffix; listed; tested.
hemstitch -d data.gz
same kept data
hemstitch -t data.gz
hemstitch -l data.gz | awk '{ print $1, $2, $6, $7 }'
hemstitch -dc --range 100-110 data.gz | cmp - <(tail -c +101 kept | head -c 10)
hemstitch -dc --range -10 data.gz | cmp - <(tail -c 10 kept)
hemstitch search -zc the data.gz | sed 's/[0-9]*$/N/'
# Members, zeros, garbage.
cat data.gz data.gz >two.gz
hemstitch -dc two.gz | cmp - <(cat kept kept)
{ cat data.gz; head -c 1000 /dev/zero; } >zeros.gz
status_of hemstitch -t zeros.gz
{ cat data.gz; echo more; } >garbage.gz
status_of hemstitch -t garbage.gz 2>&1 | sed -E "s/[0-9]{4,}/N/"
# Damage: by its kind and place.
head -c 1000 data.gz >cut.gz
status_of hemstitch -t cut.gz
python3 -c '
data = bytearray(open("data.gz", "rb").read())
def write(name, at, value):
    other = bytearray(data); other[at] = value; open(name, "wb").write(other)
write("flags.gz", 3, 0x20); write("method.gz", 2, 7); write("block.gz", 10, 7)
write("crc.gz", len(data) - 8, data[-8] ^ 1); write("size.gz", len(data) - 4, data[-4] ^ 1)'
for file in flags method block crc size; do status_of hemstitch -t $file.gz 2>&1 | sed -E 's/0x[0-9a-f]+/N/g; s/[0-9]{4,}/N/g'; done
# zlib is known by its name, or where it is said; raw DEFLATE where it is said.
python3 -c '
import zlib
data = open("kept", "rb").read()
open("z.zz", "wb").write(zlib.compress(data))
c = zlib.compressobj(6, 8, -15)
open("raw", "wb").write(c.compress(data) + c.flush())'
hemstitch -d z.zz
same kept z
hemstitch -dc --format zlib <z.zz | cmp - kept
status_of hemstitch -dc - <z.zz
hemstitch -dc --format deflate raw | cmp - kept
# A long stream is restored by all threads: from a file and from a pipe, and as far as it goes where it is cut off.
head -c 5000000 /dev/urandom | base64 >long
gzip -1k long
printf 'the end' | gzip | cat long.gz - >longer.gz
hemstitch -dc -T4 long.gz | cmp - long
hemstitch -dc -T3 < <(cat longer.gz) | tail -c 7
echo
hemstitch -t -T4 longer.gz
head -c 4000000 long.gz >long_cut.gz
for threads in 1 4; do status_of hemstitch -dc -T$threads long_cut.gz >long_cut$threads; done
same long_cut1 long_cut4
tail -c 7 long_cut4
hemstitch search -zc -T4 / long.gz | cmp - <(grep -c / long)
rm long*
# Name and time from the header, without its folders.
python3 -c '
import gzip
with gzip.GzipFile("../outside", "wb", fileobj=open("named.gz", "wb"), mtime=1000000000) as f: f.write(b"x")'
hemstitch -dN named.gz
TZ=UTC stat -c '%n %y' outside | cut -c1-27
# A tree: what --format says, else .lz4 alone.
mkdir tree
gzip -c kept >tree/a.gz
hemstitch kept -o tree/b.lz4
hemstitch -d -r tree
ls tree
hemstitch -d -r --format gzip tree
ls tree
names
