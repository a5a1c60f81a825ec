# label: once
needs python3
text 30000 | tr 1-5 a-e >data
# Times differ, all else is exact.
hemstitch evaluate data | sed -E 's/[0-9.]+ ms at first, [0-9.]+ ms warm/N ms at first, N ms warm/'
hemstitch evaluate --finder window_index --finder hash_chain:depth=4 --finder level:1 data | awk '{ $8 = ""; print }'
head -c 5000 data >start
hemstitch evaluate --all start | wc -l
hemstitch evaluate --json --finder coop_stitch:near-1k:top_k=8 --finder brute_force data >run.json
python3 - <<'END'
import hashlib, json
run = json.load(open("run.json"))
data = open("data", "rb").read()
assert run["files"] == [{"name": "data", "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}]
print(run["schema"], run["command"])
for row in run["rows"]:
    assert row["verified"] is True and row["warm_ms"] > 0 and row["gbps"] > 0
    assert row["literals"] + row["matched_bytes"] == row["bytes"] == len(data)
    assert abs(row["cost"] - (9 * row["literals"] + 25 * row["matches"]) / (8 * len(data))) < 1e-5
    print(row["what"], row["finder"], row["parameters"], "without_stitch" in row, "a_byte" in row)
END
# By a format's costs: sizes of blocks, and no offset beyond its own.
for format in gzip bgzf lz4; do
  hemstitch evaluate --format $format --json --finder hash_chain:depth=16:min_match_len=4 data | python3 -c '
import json, sys
(row,) = json.load(sys.stdin)["rows"]
print(row["format"], 0 < row["cost"] < 1, "cost_all_lengths" in row, sorted(key for key in row if key.startswith("optimum")))'
done
hemstitch evaluate --format lz4 --finder hash_chain --finder window_index data | awk 'NR == 2 { print $5, $6, $7, $8 }'
status_of hemstitch evaluate --format zip data
: >empty
for arguments in '' empty missing '--finder stitch data' '--finder coop_stitch:stride=9999 data' '--all --finder lazy_scan data' \
  '--backend abacus data' '--stitch data'; do
  # shellcheck disable=SC2086
  status_of hemstitch evaluate $arguments 2>&1 | sed -E 's/choose one of: reference(, cuda)?(, webgpu)?/choose one of: reference/'
done
hemstitch evaluate -h | head -n 1
