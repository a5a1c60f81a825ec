# label: threads
# -r takes small files many at a time: what each becomes is what it becomes alone, whatever the engine and the options.
needs lz4
make_tree() {
  mkdir -p "$1/sub/deep" "$1/empty"
  : >"$1/zero"
  text 300000 >text
  for bytes in 1 10 100 4000 65535 65536 65537 131072 262144 262145 700000; do
    head -c "$bytes" text >"$1/text$bytes"
  done
  for bytes in 1 70000 300000; do head -c "$bytes" /dev/urandom >"$1/sub/noise$bytes"; done
  for number in $(seq 120); do text "$number" >"$1/sub/deep/$number"; done
  text 1500000 >"$1/sub/larger than a batch"
  chmod 640 "$1/text100"
  touch -d '2001-02-03 04:05:06.789' "$1/sub/deep/7"
}
make_tree tree
tool=hemstitch

# Alone and in batches: the same names, bytes, modes and times, and back again.
facts() { (cd "$1" && find . -type f -printf '%p %m %s %T@\n' | sort); }
compare() {
  rm -rf alone together
  cp -a tree alone
  cp -a tree together
  find alone -type f -print0 | xargs -0 "$tool" -f "$@"
  "$tool" -r "$@" together
  diff -r alone together && cmp <(facts alone) <(facts together) &&
    echo "$*: $(find together -name '*.lz4' | wc -l) files the same"
  find together -type f ! -name '*.lz4' -delete
  "$tool" -tr "${@:2}" together
  "$tool" -dr --rm "${@:2}" together
  cp -a tree expected
  diff -r expected together && cmp <(facts expected) <(facts together) &&
    echo 'and back'
  rm -rf expected
}
compare -1
compare -4 -B64K --linked --check=content
compare -1 --no-check
compare -3 -D text
tool=hemstitch-fake
export HEMSTITCH_FAKE='inner=cpu delay_us=100'
compare -1 --backend fake -B64K --memory 3M -T4
compare -1 --backend fake -B64K -T1
# A device that fails: told once, and what is written is right.
HEMSTITCH_FAKE='inner=cpu lost=3' compare -1 --backend fake -B64K 2>stderr
sed -nE '/^hemstitch: [0-9]+ of [0-9]+ blocks/{s/[0-9]+/N/g;p}' stderr | sort -u
rm -r 'tree/sub/larger than a batch' tree/text262145 tree/text700000  # the twins are slow
HEMSTITCH_FAKE='inner=reference' compare -1 --backend fake -B64K
tool=hemstitch

# Compressed elsewhere: no size in the header, large blocks, linked ones, an old format, several frames.
mkdir foreign
lz4 -qc text >foreign/a.lz4
lz4 -qc -B4D text >foreign/linked.lz4
lz4 -qlc text >foreign/legacy.lz4
cat foreign/a.lz4 foreign/legacy.lz4 >foreign/several.lz4
{ printf 'P*M\030\003\0\0\0abc' && cat foreign/a.lz4; } >foreign/skippable.lz4
: | lz4 -qc >foreign/nothing.lz4
# Zeros: little that becomes much, more than a batch has room for.
for number in $(seq 12); do head -c 3000000 /dev/zero | lz4 -qc >"foreign/zeros$number.lz4"; done
cp foreign/zeros1.lz4 foreign/twice.lz4.lz4
hemstitch -dr foreign
for file in a linked legacy skippable; do cmp text foreign/$file; done
cat text text | cmp - foreign/several
stat -c '%s %n' foreign/nothing foreign/twice.lz4
for number in $(seq 12); do cmp -n 3000000 /dev/zero "foreign/zeros$number" || echo "zeros $number differ"; done

# What fails is told as for a file alone, in order, and the others go on.
mkdir mixed
for number in $(seq 40); do text $((number * 50)) >"mixed/$number"; done
echo other >mixed/12.lz4
mkdir mixed/17.lz4
ln -s /dev/full mixed/25.lz4
status_of hemstitch -r --rm mixed mixed/missing mixed/8
find mixed -type f ! -name '*.lz4' | sort | tr '\n' ' ' && echo
head -c 20 mixed/3.lz4 >cut
cp cut mixed/3.lz4
printf garbage >>mixed/4.lz4
printf x | dd of=mixed/5.lz4 bs=1 seek=30 conv=notrunc status=none
rm -f mixed/12.lz4 mixed/12 mixed/25.lz4
status_of hemstitch -dr mixed
status_of hemstitch -trq mixed
status_of hemstitch -dr -D cut mixed/6.lz4 mixed/7.lz4
hemstitch -rf mixed 2>&1
hemstitch -rv mixed/1 mixed/2 -f 2>&1 | sed -E 's/[0-9.e+-]+ [GM]B/N GB/; s/[0-9]+ threads?/N threads/; s/ \(auto: [^)]*\)//'
find . -name '.hemstitch-*'
