# label: once
# What auto picks: figures measured and kept, sizes that go where, and what each says of it.
needs python3 lz4
figures=$XDG_CACHE_HOME/hemstitch/figures
hemstitch backends | grep -c 'by default; --calibrate measures this machine'
hemstitch backends --calibrate | grep -E '^measured' | sed "s|$XDG_CACHE_HOME|CACHE|"
stat -c '%a %F' "$figures"
head -n 1 "$figures"
find "$XDG_CACHE_HOME" -type f | wc -l
hemstitch backends | grep -c 'figures of the choice.*measured here'
hemstitch backends --json | python3 -c '
import json, sys
choice = json.load(sys.stdin)["choice"]
cpu = choice["backends"][0]
print(choice["measured"], cpu["name"], sorted(cpu["compress_gbps"]), cpu["restore_gbps"] > 0)'
# A processor of 5 MB/s, and a device that starts in half a second.
sed -i -e 's/^backend cpu .*/backend cpu 0 0 0 0.005 0.005 0.005 0.005 0.005 0.005 0 1/' \
  -e 's/^host .*/host 10 10 10 10 10/' \
  -e '/^end$/i backend fake 0.5 0 0 100 100 100 100 100 100 0 1\ndevice ' "$figures"
export HEMSTITCH_FAKE=auto
hemstitch-fake backends | grep -E '^auto picks'
hemstitch-fake backends | grep -c rule || true
hemstitch-fake backends -vv | sed -n "/founding document 004/,/does not use this rule/p"
text 10000 >small
text 1000000 >large
taken() { grep -oE 'backend [a-z]+ \(auto: [a-z0-9 .,-]+\)'; }
hemstitch-fake -fv small 2>&1 | taken
hemstitch-fake -fv large 2>&1 | taken
hemstitch-fake -v <large 2>&1 >/dev/null | taken
hemstitch-fake -v < <(cat small) 2>&1 >/dev/null | taken
hemstitch-fake -tv small.lz4 2>&1 | taken
hemstitch-fake -tv large.lz4 2>&1 | taken
hemstitch-fake -fv --backend cpu large 2>&1 | grep -o 'backend [a-z]*,'
HEMSTITCH_BACKEND=cpu hemstitch-fake -fv large 2>&1 | grep -o 'backend [a-z]*,'
# Small files together are much.
mkdir tree
text 8000 >one
for name in $(seq 150); do cp one "tree/$name"; done
rm one
hemstitch-fake -rv tree 2>&1 | taken | sort | uniq -c | sed -E 's/^ +//'
HEMSTITCH_FAKE='auto nostart' hemstitch-fake -fv large 2>&1 | grep -oE 'backend [a-z]+ \(auto: fake does not start'
HEMSTITCH_FAKE='auto unavailable=gone' hemstitch-fake -fv large 2>&1 | grep -o 'backend [a-z]* (auto: [a-z ]*)'
# The project's own bytes, from whoever writes them here.
rm "$figures" # without them the device pays off for anything
hemstitch -qc --backend reference small >reference
HEMSTITCH_FAKE='auto inner=reference' hemstitch-fake -v -c --reproducible small 2>told | cmp - reference
taken <told | grep -o 'backend [a-z]*'
HEMSTITCH_FAKE='auto inner=cpu' hemstitch-fake -v -c --reproducible small 2>told | cmp - reference
taken <told | grep -o 'backend [a-z]*'
head -c 8192 large >tiny
HEMSTITCH_FAKE='auto inner=cpu' hemstitch-fake -fv tiny 2>&1 | taken
rm tiny tiny.lz4
# What a device that starts for an hour would have done is done before; then nobody waits for it.
HEMSTITCH_FAKE='auto start_us=3600000000' hemstitch-fake -fv small large 2>&1 | taken
HEMSTITCH_FAKE='auto start_us=3600000000' hemstitch-fake -c <large | lz4 -d | cmp - large
HEMSTITCH_FAKE='auto start_us=3600000000' hemstitch-fake -dc large.lz4 | cmp - large
# One that starts a moment later takes the rest, of pipes as well; tools read what both wrote. Its twins are slow.
head -c 3000000 large >rest
cat large rest >longer
for format in lz4 gzip; do
  (cat large && sleep 0.1 && cat rest) |
    HEMSTITCH_FAKE='auto inner=reference start_us=1000' hemstitch-fake -c --format "$format" |
    if [[ $format == lz4 ]]; then lz4 -d; else gzip -d; fi | cmp - longer
done
rm longer rest
# Nowhere to keep them is told, and nothing is left.
status_of env -u HOME XDG_CACHE_HOME=relative hemstitch backends --calibrate
ls
