# label: threads
# BGZF in parts: by its index, by walking, by virtual offsets; and without its end marker.
needs python3
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
