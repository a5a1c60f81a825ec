# label: threads
# BGZF in parts: by its index, by walking, by virtual offsets; and without its end marker.
needs gzip python3
text 200000 >data
hemstitch --format bgzf --index data
hemstitch -l data.gz | awk '{ print $1, $2, $6, $7 }'
for part in 0-10 65270-65290 130550-130570 199990-200000; do
  hemstitch -dc --range $part data.gz | cmp - <(tail -c +$((${part%-*} + 1)) data | head -c $((${part#*-} - ${part%-*})))
done
mv data.gz.gzi away
hemstitch -dc --range 130550-130570 data.gz | cmp - <(tail -c +130551 data | head -c 20)
# Where members begin: the index says the second and the third.
read -r second third < <(python3 -c '
import struct
bytes = open("away", "rb").read()
count, = struct.unpack_from("<Q", bytes)
print(*(struct.unpack_from("<QQ", bytes, 8 + 16 * i)[0] for i in range(2)))')
hemstitch -dc --virtual $((second << 16 | 20))-$(((third << 16) + 5)) data.gz | cmp - <(tail -c +65301 data | head -c $((2 * 65280 + 5 - 65300)))
hemstitch -dc --virtual $((third << 16 | 7)) data.gz | cmp - <(tail -c +$((2 * 65280 + 8)) data)
hemstitch -dc --virtual $((third << 16)) data.gz -o part 2>/dev/null || echo '-c and -o contradict each other'
status_of hemstitch -dc --virtual $(((third + 1) << 16)) data.gz 2>&1 | sed -E 's/[0-9]{3,}/N/g'
status_of hemstitch -dc --virtual 65281-$((second << 16)) data.gz
status_of hemstitch -dc --virtual 65536-131072 data.gz
status_of hemstitch -dc --virtual $((second << 16))-$(((third << 16) + 65281)) data.gz 2>&1 | sed -E 's/[0-9]{6,}/N/g'
status_of hemstitch -dc --virtual 0-$(((third + 1) << 16)) data.gz 2>&1 | sed -E 's/[0-9]{6,}/N/g'
status_of hemstitch -dc --virtual 0-65536 <(cat data.gz)
hemstitch -dc --virtual $(($(stat -c %s data.gz) << 16)) data.gz
gzip -c data >plain
status_of hemstitch -dc --virtual 0-65536 plain
# An index that lies is named and not used, whether its content's places are shifted, by some bytes or a member, it is of another file, or the
# file is ordinary gzip; nor is one that is older. What is written is right each time.
lie() { # PROGRAM: makes data.gz.gzi of the places p
  python3 -c '
import struct, sys
b = open("away", "rb").read()
p = [list(struct.unpack_from("<QQ", b, at)) for at in range(8, len(b), 16)]
exec(sys.argv[1])
open("data.gz.gzi", "wb").write(struct.pack("<Q", len(p)) + b"".join(struct.pack("<QQ", *q) for q in p))' "$1"
}
right() { # FILE FROM TO
  hemstitch -dc --range "$2-$3" "$1" >part
  echo "exit $?"
  tail -c +$(($2 + 1)) data | head -c $(($3 - $2)) | cmp - part
}
for change in pass 'for q in p: q[1] += 7' 'for q in p[5:]: q[1] -= 7' 'for q in p: q[0] += 18' 'p[7][1] += 1' \
  'for q, r in zip(p[:-1], p[1:]): q[1] = r[1]' 'del p[0]' 'p[-1][0] += 1 << 40' 'p = [[p[0][0], p[1][1]]]'; do
  lie "$change"
  right data.gz 700000 700100
done
head -c 300000 data | hemstitch --format bgzf -1 --index -o other.gz
mv other.gz.gzi data.gz.gzi
right data.gz 700000 700100
cp away plain.gzi
right plain 700000 700100
cp away data.gz.gzi
touch -d '1 hour ago' data.gz.gzi
right data.gz 700000 700100
# hemstitch index writes what --format bgzf --index wrote, also beside a file with longer headers; so does -d --index.
hemstitch index -f data.gz
same data.gz.gzi away
right data.gz 700000 700100
rm data.gz.gzi
hemstitch -t --index data.gz
same data.gz.gzi away
rm -f data.gz.gzi plain* other* part
# All of it is restored, and the warning says what may be missing.
head -c -28 data.gz >cut.gz
status_of hemstitch -d cut.gz
cmp cut data
status_of hemstitch -t cut.gz
# A member that is damaged.
python3 -c '
data = bytearray(open("data.gz", "rb").read())
data[5000] ^= 255
open("bad.gz", "wb").write(data)'
status_of hemstitch -d bad.gz
names
