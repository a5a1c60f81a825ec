# A folder in --output-dir that is swapped for a link, over and over, while -r writes there: nothing is written elsewhere.
# HEMSTITCH_RACE_SECONDS says for how long; 1 s by default.
needs python3 timeout
seconds=${HEMSTITCH_RACE_SECONDS:-1}
mkdir -p top/sub elsewhere out/sub
for i in $(seq 200); do
  echo "here $i" >"top/sub/$i"
  ((i % 2)) && echo "elsewhere $i" >"elsewhere/$i.lz4"
done
cat >swap.py <<'PY'
import os, signal
end = []
signal.signal(signal.SIGTERM, lambda *_: end.append(True))
turn = 0
while not end:
    turn += 1
    try:
        os.rename("out/sub", "out/.real")
        os.symlink("../elsewhere", "out/sub")
        os.unlink("out/sub")
        os.rename("out/.real", "out/sub")
    except OSError:  # the folder was made anew meanwhile
        if os.path.islink("out/sub"):
            os.unlink("out/sub")
        elif os.path.exists("out/sub"):
            os.rename("out/sub", f"out/.aside{turn}")
        if os.path.exists("out/.real"):
            os.rename("out/.real", "out/sub")
PY
cp -a elsewhere before
python3 swap.py &
end=$(date -d "+$seconds seconds" +%s%N)
while [[ $(date +%s%N) -lt $end ]]; do timeout 20 hemstitch -q -r -f --output-dir out top 2>/dev/null; done
kill $!
wait $!
diff -r elsewhere before && echo 'elsewhere nothing changed'
hemstitch -q -r -f --output-dir out top
hemstitch cat out/sub/200.lz4
