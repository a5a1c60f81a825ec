needs python3
# Which others there are depends on the build.
hemstitch backends | sed -E 's/(liblz4|libdeflate|libzstd) [0-9.]+/\1 N/g' | grep -E '^(cpu|auto) '
hemstitch backends --json | python3 -c '
import json, sys
answer = json.load(sys.stdin)
print(answer["auto"], [(b["name"], b["usable"], "reason" in b) for b in answer["backends"] if b["name"] == "cpu"])'
export HEMSTITCH_FAKE='unavailable=no-device-here'
hemstitch-fake backends | grep -A 1 fake
hemstitch-fake backends --json | python3 -c '
import json, sys
print([b for b in json.load(sys.stdin)["backends"] if b["name"] == "fake"][0]["reason"])'
echo x >data
status_of hemstitch-fake --backend fake data
names
HEMSTITCH_BACKEND=fake hemstitch-fake backends | tail -n 1
HEMSTITCH_BACKEND=fake hemstitch-fake backends --json | grep '"auto"'
status_of env HEMSTITCH_BACKEND=nonsense hemstitch backends 2>&1 | sed -E 's/(build are auto, cpu).* \(/\1... (/'
# One that this build was made without says how to get it, in the list and where it is asked for.
for name in cuda webgpu; do
  if hemstitch backends | grep -q "^$name  *not built  *[a-z-]"; then
    hemstitch --backend $name data 2>&1 | grep -q "'$name' is not in this build: " || echo "$name: no remedy"
    hemstitch search --backend $name x data 2>&1 | grep -q "'$name' is not in this build: " || echo "$name: no remedy"
  else
    hemstitch backends | grep -q "^$name " || echo "$name is not listed"
  fi
done
