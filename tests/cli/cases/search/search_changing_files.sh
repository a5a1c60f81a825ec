# Files that grow, shrink, vanish or are replaced while search reads them: each is searched up to the end that is met, none is left
# out, and nothing is said that is not so. HEMSTITCH_SEARCH_RUNS: how many runs in each way.
needs python3
runs=${HEMSTITCH_SEARCH_RUNS:-12}
mkdir logs
for name in a b c d; do text 500 | sed 's/$/ hit/' >"logs/$name"; done
text 40000 | sed 's/$/ hit/' >logs/large # several pieces
text 3000000 | sed 's/$/ hit/' >huge
hemstitch -q -c huge >huge.lz4
cat >append.py <<'EOF'
import os, sys, time
# Two files by 100 lines a second, the others by 1000.
files = [open(path, "a") for path in sys.argv[1:]]
start, written = time.monotonic(), [0] * len(files)
while os.path.exists("go on"):
    seconds = time.monotonic() - start
    for i, file in enumerate(files):
        while written[i] < seconds * (100 if i < 2 else 1000):
            file.write(f"line {written[i]} hit\n")
            written[i] += 1
        file.flush()
    time.sleep(0.0005)
EOF
touch 'go on'
python3 append.py logs/a logs/b logs/c logs/large huge &
sleep 0.2

# All five, with all lines that were there before: so many at the least.
searched() {
  hemstitch search -c "$@" hit logs/a logs/b logs/c logs/d logs/large
  echo "exit $?"
}
least='logs/a:500 logs/b:500 logs/c:500 logs/d:500 logs/large:40000'
counts_are_right() {
  awk -F: -v least="$least" '
    BEGIN { count = split(least, at_least, " "); for (i = 1; i <= count; ++i) { split(at_least[i], one, ":"); wanted[one[1]] = one[2] } }
    $1 in wanted && $2 >= wanted[$1] { ++right; next }
    $0 != "exit 0" { print "unexpected: " $0 }
    END { print right / count " runs" }'
}
ways=('' '--memory 2M' '-z' '-w' '-r')
hemstitch search --backend webgpu x /dev/null >/dev/null 2>&1
[[ $? == 1 ]] && ways+=('--backend webgpu')
for way in "${ways[@]}"; do
  # shellcheck disable=SC2086
  for ((run = 0; run < runs; ++run)); do searched $way; done 2>&1 | grep -v XDG_RUNTIME_DIR | counts_are_right | sed "s/^$runs runs/all runs/"
done | sort | uniq -c | sed "s/^ *${#ways[@]} all runs/in all ways, all runs/"
# One that is named alone, and read for a while.
for ((run = 0; run < (runs + 3) / 4; ++run)); do
  [[ $(hemstitch search -c hit huge) -ge 3000000 ]] || echo 'too few'
done
# In a pipe nobody waits for lines that are there.
tail -n 3 -f logs/c 2>/dev/null | hemstitch search -m 2 -c hit
rm 'go on'
wait

# Truncated again and again, also to nothing; replaced; removed.
cat >change.py <<'EOF'
import os
content = open("logs/large", "rb").read()
packed = open("huge.lz4", "rb").read()[:3000000]
while os.path.exists("go on"):
    for size in (len(content), 200000, 50, 0):
        for name, bytes in (("logs/a", content), ("logs/b", content), ("logs/packed", packed)):
            with open(name, "r+b" if os.path.exists(name) else "wb") as file:
                file.truncate(size // 2)
                file.write(bytes[:size])
                file.truncate(size)
    open("logs/new", "wb").write(content)
    os.rename("logs/new", "logs/c")
EOF
touch 'go on'
python3 change.py &
for ((run = 0; run < runs; ++run)); do
  for way in '' '--memory 2M' '-z'; do
    # shellcheck disable=SC2086
    hemstitch search $way -c hit logs/a logs/b logs/c logs/d 2>&1 | sed 's/:[0-9]*$//'
  done
done | sort | uniq -c | sed "s/^ *$((3 * runs)) /in all runs /"
rm 'go on'
wait
