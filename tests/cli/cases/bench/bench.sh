needs python3
text 20000 >data
text 10000 >other
hemstitch bench --seconds 0 -1 -9 data other | awk 'NR > 2 { print $1, $2, $NF }'
hemstitch bench --seconds 0 --json -1 -9 -B64K data -T1 >run.json
python3 - <<'END'
import hashlib, json
run = json.load(open("run.json"))
print(sorted(run))
assert run["schema"] == 1 and run["device"] and run["commit"] and len(run["kernels"]) == 64
print(run["command"])
data = open("data", "rb").read()
assert run["files"] == [{"name": "data", "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}]
assert run["rows"][0]["what"] == "start" and run["rows"][0]["seconds"] > 0
for row in run["rows"][1:]:
    assert row["gbps"] > 0 and row["ratio"] > 1 and row["verified"] is True
    print({name: value for name, value in row.items() if name not in ("gbps", "ratio", "cpu_seconds_per_gb")})
END
HEMSTITCH_FAKE='fail=3' hemstitch-fake bench --backend fake --seconds 0 -1 -T1 data >out
echo "exit $?"
hemstitch bench --seconds 0 --fast=2 data
echo "exit $?"
# Nothing is printed, and no time spent, before it is told that a file is missing.
for files in missing 'data missing'; do
  # shellcheck disable=SC2086
  status_of hemstitch bench --seconds 0 $files
done
: >empty
mkdir folder
status_of hemstitch bench folder
hemstitch bench empty
