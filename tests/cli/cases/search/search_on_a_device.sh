# What the processor finds, the devices that are here find too: lines, counts and names, in files and inside compressed
# ones, whatever the device cannot restore itself included.
needs gzip lz4
devices=()
for backend in cuda webgpu; do
  hemstitch search --backend "$backend" x /dev/null >/dev/null 2>&1
  [[ $? == 1 ]] && devices+=("$backend")
done
if [[ ${#devices[@]} == 0 ]]; then
  echo 'skipped: no device here'
  exit 77
fi

mkdir tree
text 30000 >tree/numbers
noise 3000 >tree/noise
printf 'aaaa\naAaA\nbab' >tree/overlaps
printf 'one\n' >tree/short
: >tree/empty
printf 'text 777\nbin\0ary 777\n' >tree/binary
head -c 100000 /dev/zero | tr '\0' a >tree/run
mkdir packed
for file in tree/*; do lz4 -q "$file" "packed/${file#tree/}.lz4"; done
lz4 -q -BD -B4 tree/numbers packed/linked.lz4
lz4 -q -l tree/numbers packed/legacy.lz4
cat packed/noise.lz4 packed/short.lz4 >packed/two_frames.lz4
head -c 1000 /dev/urandom | tee tree/stored | lz4 -q -BX >packed/stored.lz4
hemstitch -k -q tree/numbers -c >packed/own.lz4
gzip -c tree/noise >packed/noise.gz
cp tree/short packed/plain
head -c 5000 packed/numbers.lz4 >packed/cut.lz4
head -c 3000 packed/numbers.lz4 >packed/damaged.lz4
printf 'damage' >>packed/damaged.lz4
tail -c +3007 packed/numbers.lz4 >>packed/damaged.lz4

differences=0
same_on_devices() {
  hemstitch search --backend cpu "$@" >expected.out 2>expected.err
  local status=$? backend
  for backend in "${devices[@]}"; do
    hemstitch search --backend "$backend" "$@" >found.out 2>found.err
    if [[ $? != "$status" ]] || ! cmp -s expected.out found.out || ! diff expected.err <(grep -v XDG_RUNTIME_DIR found.err); then
      echo "differs on $backend: $*"
      diff expected.out found.out | head -n 5
      differences=1
    fi
  done
}
for options in -c -n '-o -b' -l '-i -c'; do
  for pattern in 777 aa $'29999\nnothing\na'; do
    # shellcheck disable=SC2086
    same_on_devices $options -r -e "$pattern" tree
    # shellcheck disable=SC2086
    same_on_devices $options -r -z -e "$pattern" packed
  done
done
same_on_devices -r '' tree
same_on_devices --json --memory 100k 777 tree/*
same_on_devices 777 missing tree/numbers tree
[[ $differences == 0 ]] && echo 'the same everywhere'
HEMSTITCH_BACKEND=none status_of hemstitch search x tree/short 2>/dev/null
status_of hemstitch search --backend none "" tree/short 2>/dev/null
