# label: threads
# What search does besides what grep does: compressed files, JSON, memory, errors.
needs python3
mkdir logs
text 3000 >logs/plain
noise 2000 >logs/other
hemstitch -q -9 logs/other --rm
printf 'one 4711\n' | hemstitch >logs/named_otherwise
printf 'damaged' | hemstitch | head -c 12 >logs/damaged.lz4
status_of hemstitch search -r -z -c 471 logs
status_of hemstitch search -rz -n -b '4711' logs/named_otherwise logs/plain
noise 2000 | grep -c 471
# Without -z, compressed files are what they are.
status_of hemstitch search -c 4711 logs/named_otherwise
hemstitch search --json -r -e 2999 -e '"' logs/plain
hemstitch search --json -o -i ONE <<<'"one" and One'
hemstitch search --json -c 11 logs/plain
hemstitch search --json -l 11 logs/plain
printf 'x \377 y\n' | hemstitch search --json x | python3 -c 'import json, sys; print(json.load(sys.stdin)["text"] == "x \ufffd y")'
# In little memory the result is the same.
hemstitch search -r --memory 16K -c 299 logs/plain
cp logs/plain logs/again
hemstitch search --memory 16K -T 2 2999 logs/plain logs/again
status_of hemstitch search
status_of hemstitch search -k x logs
status_of hemstitch search -C -1 x logs
status_of hemstitch search -m 1K x logs
status_of hemstitch search --color=sometimes x logs
status_of hemstitch search --nothing x logs
status_of hemstitch search -e
status_of hemstitch search -T many x
status_of hemstitch search --memory 0 x
# Options as GNU has them: long names may be cut short, values may be empty, and the last of several wins.
hemstitch search --inv --col -c 471 logs/plain
status_of hemstitch search --co 471 logs/plain
status_of hemstitch search --count=3 471 logs/plain
status_of hemstitch search -ce
hemstitch search -c -e '' logs/plain
hemstitch search -Ll -h -H 471 logs/plain
hemstitch search -r -c --exclude='*' --include=plain 471 logs
status_of hemstitch search -b1 1471 logs/plain
status_of hemstitch search --binary-files=x 471 logs/plain
status_of hemstitch search -f nowhere logs/plain
printf 'in a pipe\n' | hemstitch search pipe - <(printf 'another pipe\n') | sed 's,/dev/fd/[0-9]*,FD,'
hemstitch search --help | head -n 2
hemstitch search --json -C 1 2999 logs/plain
hemstitch search --json -L 2999 logs/plain logs/again /dev/null
# Files whose size of 0 says nothing.
if [[ -r /proc/self/status ]]; then
  hemstitch search -c Name: /proc/self/status
  hemstitch search --memory 1M -c Name: /proc/self/status
else
  echo 1; echo 1
fi
