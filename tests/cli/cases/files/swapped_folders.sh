# A folder that is swapped for a link, over and over, while -r works below it: nothing is read, written or removed elsewhere.
# HEMSTITCH_RACE_SECONDS says for how long, in each of three ways; 1 s by default.
needs python3 timeout
seconds=${HEMSTITCH_RACE_SECONDS:-1}
mkdir -p top/sub elsewhere
for i in $(seq 200); do
  echo "here $i" >"top/sub/$i"
  echo "elsewhere $i" >"elsewhere/$i"
done
cat >swap.py <<'PY'
import os, signal
end = []
signal.signal(signal.SIGTERM, lambda *_: end.append(True))
while not end:
    os.rename("top/sub", "top/.real")
    os.symlink("../elsewhere", "top/sub")
    os.unlink("top/sub")
    os.rename("top/.real", "top/sub")
PY
race() {
  cp -a elsewhere before
  python3 swap.py &
  local end
  end=$(date -d "+$seconds seconds" +%s%N)
  while [[ $(date +%s%N) -lt $end ]]; do timeout 20 hemstitch -q -r -f "$@" top 2>/dev/null; done
  kill $!
  wait $!
  diff -rq elsewhere before && echo 'elsewhere nothing changed'
  rm -r before
  find top/sub -name '*.lz4' -exec hemstitch -dcq {} + | cat - $(find top/sub -type f ! -name '*.lz4') |
    grep -c elsewhere
}
race
# The same names are there elsewhere, to be restored, and to be removed when that is done.
hemstitch -r elsewhere
hemstitch -rqf top
race -d
race -d --rm
ls -A top
