text 20000 >data
hemstitch bench --seconds 0 -1 -9 --span file --repeat-to 50000 data | awk 'NR == 2 || NR > 3 { print $1, $2, $NF }'
needs python3
hemstitch bench --seconds 0 --json -1 --span file data | python3 -c '
import json, sys
print([(row["what"], row["span"], row["bytes"], row["verified"]) for row in json.load(sys.stdin)["rows"]])'
for span in kernel pinned; do status_of hemstitch bench --backend cpu --span $span data; done
status_of hemstitch bench --span disk data
status_of hemstitch bench --repeat-to much data
HEMSTITCH_FAKE='wrong=2' hemstitch-fake bench --backend fake --seconds 0 -1 -T1 --span file data >out
