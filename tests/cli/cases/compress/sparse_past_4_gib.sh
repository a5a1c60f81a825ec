# A file of 4100 MiB that is empty but for its ends and its middle: sizes past 4 GiB work, and holes stay holes.
[[ -z $HEMSTITCH_SANITIZE ]] || { echo 'skipped: too slow with sanitizers'; exit 77; }
truncate -s 4100M data
printf begin | dd of=data bs=1 conv=notrunc status=none
printf middle | dd of=data bs=1 seek=$((2050 << 20)) conv=notrunc status=none
printf end | dd of=data bs=1 seek=$(((4100 << 20) - 3)) conv=notrunc status=none
hemstitch -B4M data
hemstitch -l data.lz4 | awk 'NR == 2 { print $4 }'
hemstitch -d data.lz4 -o restored
stat -c %s restored
[[ $(stat -c %b restored) -lt 1000 ]] || echo "no holes: $(stat -c %b restored) blocks"
head -c 5 restored; echo
tail -c 3 restored; echo
hemstitch -dc --range $((2050 << 20))-$(((2050 << 20) + 6)) data.lz4; echo
hemstitch -dc --range 4198399K-5G data.lz4 | tail -c 3; echo
