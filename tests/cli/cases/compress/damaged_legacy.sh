# A block size that cannot be is an error, and nothing stands under the final name; as the last four bytes, where images of Linux
# have their content's size, it is a warning.
needs lz4
text 1500000 >data
lz4 -qlc data >image.lz4
size=$(stat -c %s image.lz4)
word() { printf '%b' "$(printf '\\x%02x\\x%02x\\x%02x\\x%02x' $(($1 & 255)) $(($1 >> 8 & 255)) $(($1 >> 16 & 255)) $(($1 >> 24)))"; }
{ cat image.lz4; word "$(stat -c %s data)"; } >linux.lz4
{ cat linux.lz4; echo more; } >behind.lz4
cp image.lz4 size.lz4
second=$((8 + $(od -An -tu4 -j4 -N4 image.lz4)))
word 4000000000 | dd of=size.lz4 bs=1 seek="$second" conv=notrunc status=none
mv data original
for file in linux behind size; do
  hemstitch -d $file.lz4 2>stderr
  echo "$file: exit $?"
  sed -E "s/byte $size:/byte SIZE:/; s/byte $second:/byte SECOND:/" stderr
  if [[ -e $file ]]; then same original $file; fi
done
status_of hemstitch -qt behind.lz4 2>/dev/null
status_of hemstitch -qt linux.lz4
names
