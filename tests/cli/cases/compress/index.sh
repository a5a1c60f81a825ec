# hemstitch index: FILE.gzidx beside a gzip file, and --range by it. What restoring from its points gives is held against the content.
text 1600000 >data
gzip -k data
hemstitch index data.gz
test -s data.gz.gzidx
head -c 5 data.gz.gzidx && echo
cut() { tail -c +$(($1 + 1)) data | head -c $(($2 - $1)); }
bytes=$(stat -c %s data)
for range in 0-1 4200000-4200001 5000000-6000000 8388607-8388609 $((bytes - 1))-$bytes 0-$bytes; do
  hemstitch -dc --range "$range" data.gz | cmp - <(cut "${range%-*}" "${range#*-}")
done
hemstitch -dc --range 9000000- data.gz | cmp - <(cut 9000000 "$bytes")
status_of hemstitch -dc --range 2G- data.gz
# The index is what is used: damage before the point doesn't show, and without the index it does.
cp data.gz whole.gz
printf '\xff\xff\xff\xff\xff\xff' | dd of=data.gz bs=1 seek=2000 conv=notrunc status=none
touch data.gz.gzidx
hemstitch -dc --range 9000000-9001000 data.gz | cmp - <(cut 9000000 9001000)
mv data.gz.gzidx kept
status_of hemstitch -dc --range 9000000-9001000 data.gz >/dev/null 2>&1
# One that is older, or of another file, or cut, is not used.
cp whole.gz data.gz
cp kept data.gz.gzidx
touch -d '1 hour ago' data.gz.gzidx
hemstitch -dc --range 9000000-9001000 data.gz | cmp - <(cut 9000000 9001000)
head -c 100 kept >data.gz.gzidx
hemstitch -dc --range 9000000-9001000 data.gz | cmp - <(cut 9000000 9001000)
text 10 | gzip >other.gz
cp kept other.gz.gzidx
hemstitch -dc --range 0-3 other.gz | cmp - <(head -c 3 data)
# Its size of the content counts for the last bytes, and is not believed where the content ends elsewhere.
cp kept data.gz.gzidx
hemstitch -dc --range -10 data.gz | cmp - <(tail -c 10 data)
printf '\x11' | dd of=data.gz.gzidx bs=1 seek=15 conv=notrunc status=none
status_of hemstitch -dc --range -10 data.gz >/dev/null
# In the same pass as content: the same index. Damage leaves neither.
cp kept data.gz.gzidx
rm data.gz.gzidx
hemstitch -d --index -o restored data.gz
cmp restored data
cmp data.gz.gzidx kept
rm data.gz.gzidx
hemstitch cat --index data.gz | cmp - data
cmp data.gz.gzidx kept
hemstitch -t -f --index data.gz
cmp data.gz.gzidx kept
rm restored
head -c 90000 data.gz >part.gz
status_of hemstitch -d --index part.gz
rm part.gz
status_of hemstitch -d --index --rm data.gz
status_of hemstitch -d --index <data.gz
status_of hemstitch -dc --index --range 1-2 data.gz
status_of hemstitch -l --index data.gz
# Made while gzip is compressed; the source may go then. It is used: damage before the point does not show.
cp data gone
hemstitch --format gzip --index --rm gone
ls gone*
printf '\xff\xff\xff\xff\xff\xff' | dd of=gone.gz bs=1 seek=2000 conv=notrunc status=none
touch gone.gz.gzidx
for range in 4500000-4501000 9000000-9001000 $((bytes - 1))-$bytes; do
  hemstitch -dc --range "$range" gone.gz | cmp - <(cut "${range%-*}" "${range#*-}")
done
rm gone*
# What stands there is not replaced unasked; a file that is damaged or is no gzip gets none, nor does a pipe. BGZF gets
# its own.
status_of hemstitch index data.gz
hemstitch index -f data.gz
cmp data.gz.gzidx kept
printf 'rest' >>whole.gz
status_of hemstitch index whole.gz
status_of hemstitch index -fq whole.gz
rm whole.gz.gzidx
head -c 100000 data.gz >cut.gz
status_of hemstitch index cut.gz
hemstitch --format bgzf -o blocks.gz data
status_of hemstitch index blocks.gz
status_of hemstitch index data
status_of hemstitch index < data.gz
status_of hemstitch index - < data.gz
status_of hemstitch index missing.gz
mkfifo pipe.gz
status_of hemstitch index pipe.gz
mkdir folder
status_of hemstitch index folder
ls
