needs python3
text 20000 >data
# The folder that is named is the one that is used, and nothing is left in it.
mkdir folder
export TMPDIR=$PWD/folder
hemstitch bench --seconds 0 -1 -9 --span file --repeat-to 50000 data |
  sed -E '1d; 2s/ started in [0-9.]+ ms/ started/; 3,$s/[0-9]+\.[0-9]+/N/g; s/ +[0-9]+%/ N%/; s/ +/ /g'
hemstitch bench --seconds 0 --json -1 -T2 --span file data >run.json
python3 - <<'END'
import json
start, *rows = json.load(open("run.json"))["rows"]
assert start["what"] == "start" and start["seconds"] > 0, start
for row in rows:
    assert row["cpu_seconds_per_gb"] > 0 and row["gbps"] > 0, row
    print(row["what"], row["span"], row["bytes"], row["threads"], row["verified"], row.get("peer"))
END
ls -A folder
TMPDIR=/absent hemstitch bench --seconds 0 -1 --span file data 2>&1 >out | sed 's/-bench-[^:]*/-bench/'
unset TMPDIR
for span in kernel pinned; do status_of hemstitch bench --backend cpu --span $span data; done
status_of hemstitch bench --span disk data
status_of hemstitch bench --repeat-to much data
for count in 0 many; do status_of hemstitch bench --span pinned --batches $count data; done
status_of hemstitch bench --span pinned --batch much data
# The first two calls are of the start, the fourth restores.
HEMSTITCH_FAKE='wrong=4' hemstitch-fake bench --backend fake --seconds 0 -1 -T1 --span file data >out
