#!/usr/bin/env bash
# The compressed RAM disk under real clients: copies over many connections, its map, verified random writes, a file system, a full disk, a
# client that is killed, snapshots.
#
#   ramdisk.sh PLUGIN [FILES]     FILES: files that the file system gets, 2000 unless told
set -euo pipefail
plugin=$1
files=${2:-2000}
docs=$(realpath "$(dirname "$0")/../../docs")
work=$(mktemp -d)
server=
end() {
  if [[ -n $server ]]; then kill "$server" 2> /dev/null || true; fi
  rm -rf "$work"
}
trap end EXIT
cd "$work"

fail() {
  printf 'FAILED: %s\n' "$*" >&2
  exit 1
}
# serve SETTING...: until stop; the disk is at $uri. `threads` serve each connection.
threads=16
serve() {
  rm -f socket pid
  nbdkit --threads "$threads" --foreground --unix "$PWD/socket" --pidfile "$PWD/pid" "$plugin" "$@" 2> server.err &
  server=$!
  for _ in $(seq 100); do
    if [[ -s pid ]]; then return 0; fi
    kill -0 "$server" 2> /dev/null || fail "the server does not start: $(cat server.err)"
    sleep 0.05
  done
  fail "the server does not start: $(cat server.err)"
}
stop() {
  kill "$server"
  wait "$server" || fail "the server ended with $?: $(cat server.err)"
  server=
}
# refused WORDS SETTING...: nbdkit ends with a message that has WORDS, before it goes to the background, where nobody would see one.
refused() {
  local words=$1 status=0
  shift
  rm -f other other.pid
  timeout 60 nbdkit --unix "$PWD/other" --pidfile "$PWD/other.pid" "$plugin" "$@" < /dev/null 2> server.err || status=$?
  if [[ $status -eq 0 ]]; then
    sleep 1
    if [[ -s other.pid ]]; then kill "$(< other.pid)"; fi
    fail "taken: '$*'"
  fi
  [[ $status -eq 1 ]] || fail "'$*' ends with $status"
  grep -q -- "$words" server.err || fail "'$*': $(cat server.err)"
}
uri="nbd+unix:///?socket=$PWD/socket"

echo "copies over 8 connections, both ways, and the map of it"
seq 1000000 > data
head -c 1000000 /dev/urandom >> data
truncate -s 40M data
serve size=40M statistics="$PWD/statistics" snapshot="$PWD/snapshot" checksums=true
nbdcopy --connections=8 data "$uri"
nbdcopy --connections=8 "$uri" back
cmp data back || fail "what came back is not what went there"
nbdinfo --map "$uri" > map
grep -q '0  *data' map || fail "no data in the map: $(cat map)"
grep -q '3  *hole,zero' map || fail "no hole in the map: $(cat map)"
nbdinfo --can multi-conn "$uri" || fail "not for many connections"
stop
grep -q '"failed_pages": 0' statistics || fail "statistics: $(cat statistics)"

echo "a snapshot comes back, one that does not fit is refused, and a damaged one"
serve size=40M snapshot="$PWD/snapshot"
nbdcopy "$uri" back
cmp data back || fail "the snapshot is not what was written"
stop
refused 'has pages of 4096 bytes; the store has pages of 8192' size=40M page=8K snapshot="$PWD/snapshot"
refused 'the store has numbers below 256' size=1M snapshot="$PWD/snapshot"
refused 'budget of 1048576 bytes is used up' size=40M budget=1M snapshot="$PWD/snapshot"
printf 'x' | dd of=snapshot bs=1 seek=200000 conv=notrunc status=none
refused "snapshot=$PWD/snapshot: .* damaged" size=40M snapshot="$PWD/snapshot"

echo "random writes of all sizes, verified, by 4 jobs, while others trim"
serve size=64M
cat > verify.fio << 'FIO'
[global]
ioengine=nbd
uri=${uri}
bsrange=512-64k
iodepth=8
randseed=7
[writers]
rw=randwrite
size=8M
offset_increment=12M
verify=crc32c
verify_fatal=1
verify_backlog=64
numjobs=4
[trimmer]
rw=randtrim
bs=4k
offset=48M
size=8M
FIO
uri=$uri fio verify.fio > fio.out 2>&1 || fail "fio: $(tail -20 fio.out)"
[[ $(grep -c 'err= 0' fio.out) -eq 5 ]] || fail "fio: $(tail -40 fio.out)"

stop

# Where a client vanishes in the middle of its writes, Debian 12's nbdkit (1.32.5) fails an assertion of its own in raw_send_socket now and then,
# if several threads serve the connection.
threads=1
echo "a client that is killed in its work, and 32 at once"
serve size=64M
# It would write for a minute, and is killed once the disk has data of its.
fio --name=client --ioengine=nbd --uri="$uri" --rw=randwrite --bsrange=512-64k --iodepth=8 --size=60M --thread --time_based --runtime=60 > fio.out 2>&1 &
client=$!
for _ in $(seq 200); do
  nbdinfo --map "$uri" > map
  if grep -q '0  *data' map; then break; fi
  sleep 0.05
done
grep -q '0  *data' map || fail "the client wrote nothing: $(cat fio.out)"
kill -9 "$client"
status=0
wait "$client" 2> /dev/null || status=$?
[[ $status -eq 137 ]] || fail "the client ended with $status before it was killed: $(cat fio.out)"
clients=()
for i in $(seq 32); do
  nbdcopy --connections=1 "$uri" "back.$i" &
  clients+=($!)
done
for client in "${clients[@]}"; do wait "$client" || fail "one of 32 clients failed"; done
nbdcopy --connections=8 data "$uri"
nbdcopy "$uri" back
cmp <(head -c 40M back) data || fail "wrong bytes after a client was killed"
stop

echo "a full disk refuses writes and is read as before"
serve size=64M budget=8M
head -c 4M /dev/urandom > noise
nbdcopy noise "$uri" || fail "4 MB do not fit a budget of 8"
status=0
head -c 64M /dev/urandom > much
nbdcopy much "$uri" 2> copy.err || status=$?
[[ $status -ne 0 ]] || fail "64 MB of noise fit 8"
grep -qi 'no space' copy.err || fail "not told as no space: $(cat copy.err)"
nbdcopy "$uri" back || fail "a full disk cannot be read"
# A page has what was there before it was full, or what it still took of the other copy, and no mixture of them.
python3 - << 'PYTHON' || fail "a full disk has other bytes"
size = 4096
noise, much, back = (open(name, "rb").read() for name in ("noise", "much", "back"))
old = taken = 0
for at in range(0, len(back), size):
    page = back[at:at + size]
    if page == much[at:at + size]:
        taken += 1
    elif page == (noise[at:at + size] if at < len(noise) else bytes(size)):
        old += 1
    else:
        raise SystemExit(f"page {at // size} is neither")
assert old > 0 and taken > 0 and old + taken == len(much) // size, (old, taken)
PYTHON
stop
threads=16

echo "every setting is in the manual, and in the page"
settings=$(nbdkit "$plugin" --help | sed -n 's/^\[\{0,1\}\([a-z]*\)=.*/\1/p')
[[ $(wc -w <<< "$settings") -eq 11 ]] || fail "settings: $settings"
for setting in $settings; do
  grep -q "^\*\*$setting=\|, \*\*$setting=" "$docs/man/nbdkit-hemstitch-plugin.1.md" || fail "$setting is not in the manual"
  grep -q "^|.*\`$setting=" "$docs/ramdisk.md" || fail "$setting is not in the page"
done

echo "wrong settings"
refused 'needs a size'
refused 'could not parse size' size=x
refused 'holds nothing' size=0
refused 'too large for pages of 4096 bytes' size=17T
refused 'level is 13' size=1M level=13
refused 'page_bytes is 1000, it can be' size=1M page=1000
refused 'page_bytes is 131072, it can be' size=1M page=128K
refused 'needs at least' size=1M budget=1K
refused 'holds no page' size=1M budget=0
refused "no backend 'abacus'" size=1M backend=abacus
refused "no setting 'colour'" size=1M colour=red
refused 'cannot be created: No such file' size=1M snapshot="$PWD/missing/snapshot"
refused 'cannot be created: No such file' size=1M statistics="$PWD/missing/statistics"
mkfifo pipe
refused 'not a regular file' size=1M snapshot="$PWD/pipe"
head -c 100000 data > no_snapshot
refused 'not a file of pages' size=1M snapshot="$PWD/no_snapshot"
[[ -z $(compgen -G '.hemstitch-*') ]] || fail "files are left behind: $(compgen -G '.hemstitch-*')"

echo "a file system with $files files"
serve size=1G
touch disk
mounted=no
if [[ $(id -u) -eq 0 && -e /dev/fuse && -e /dev/loop-control ]] && command -v nbdfuse > /dev/null; then
  nbdfuse --pidfile "$PWD/fuse.pid" disk "$uri" 2> fuse.err &
  for _ in $(seq 100); do
    if [[ -s fuse.pid ]]; then break; fi
    sleep 0.05
  done
  if [[ -s fuse.pid ]]; then
    mkfs.ext4 -q -F -E nodiscard -N $((files + 20000)) disk
    mkdir mnt
    if loop=$(losetup --find --show disk 2> loop.err); then
      if mount "$loop" mnt 2>> loop.err; then
        mounted=yes
        python3 - "$files" << 'PYTHON'
import os, sys
for i in range(int(sys.argv[1])):
    folder = f"mnt/{i // 1000}"
    os.makedirs(folder, exist_ok=True)
    with open(f"{folder}/{i}", "wb") as file:
        file.write(f"{i} ".encode() * (1 + i % 800))
PYTHON
        umount mnt
        e2fsck -f -n "$loop" > fsck.out 2>&1 || fail "e2fsck: $(cat fsck.out)"
        mount "$loop" mnt
        python3 - "$files" << 'PYTHON'
import sys
for i in range(int(sys.argv[1])):
    with open(f"mnt/{i // 1000}/{i}", "rb") as file:
        assert file.read() == f"{i} ".encode() * (1 + i % 800), i
PYTHON
        umount mnt
      fi
      losetup --detach "$loop"
    fi
    umount disk 2> /dev/null || fusermount3 -u disk
  fi
fi
if [[ $mounted == no ]]; then
  echo "NOT MOUNTED: this machine lets no file system be mounted here; made and checked without one"
  truncate -s 1G image
  mkfs.ext4 -q -F image
  head -c 300000 data > file
  debugfs -w -R "write file there" image > /dev/null 2>&1
  nbdcopy image "$uri"
  nbdcopy "$uri" back
  e2fsck -f -n back > fsck.out 2>&1 || fail "e2fsck: $(cat fsck.out)"
  debugfs -R "dump there dumped" back > /dev/null 2>&1
  cmp file dumped || fail "a file of the file system is another one"
fi
stop
echo "done"
