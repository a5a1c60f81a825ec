# Dictionaries of Zstandard by hemstitch train, beside the zstd tool.
needs zstd
mkdir samples
for sample in {1..300}; do
  printf '{"user": %d, "name": "name of %d", "groups": ["readers", "writers"], "last seen": "2024-05-%02d", "active": true}\n' $((sample * 7919)) "$sample" $((sample % 28 + 1)) >samples/"$sample".json
done
hemstitch train --maxdict 4K -q samples/*.json -o dict
head -c 4 dict | od -An -tx1
echo "4096 bytes at most: $(($(stat -c %s dict) <= 4096))"
# Both tools use it, and files get smaller.
file=samples/77.json
hemstitch --format zstd -D dict -c $file >ours
zstd -qc -D dict $file >theirs
for packed in ours theirs; do
  zstd -dqc -D dict $packed | cmp - $file
  hemstitch -dc -D dict $packed | cmp - $file
done
echo "half as large: $(($(stat -c %s ours) * 2 < $(hemstitch --format zstd -c $file | wc -c)))"
status_of hemstitch -dc ours 2>&1 | sed 's/0x[0-9a-f]*/ID/g'
# The same samples give the same dictionary. Folders; its id.
hemstitch train --maxdict 4K -qr samples -o from_folder
hemstitch train --maxdict 4K -qr --include '*.json' --exclude '1*' samples -o fewer
hemstitch train --maxdict 4K -q --dictID 4711 samples/*.json -o named
od -An -tu4 -j4 -N4 named
hemstitch --format zstd -D named -c $file | hemstitch -dc -D named | cmp - $file
hemstitch --format zstd -D named -c $file >by_name
zstd -lv by_name 2>/dev/null | grep -o 'DictID: [0-9]*'
zstd -dqc -D named by_name | cmp - $file
hemstitch train --maxdict 4K -q samples/*.json -o again
cmp dict again
# With less memory there are fewer samples, spread over all.
hemstitch train --maxdict 1K --memory 10K -q samples/*.json -o little
zstd -qc -D little $file | hemstitch -dc -D little | cmp - $file
# What is said of few samples, of samples in which nothing repeats, and of an output that is there.
status_of hemstitch train samples/1*.json -o warned
status_of hemstitch train samples/1.json samples/2.json -o none
for file in {1..10}; do printf x >short.$file; done
for file in {1..9}; do printf '%s-------' $file >equal.$file; done
status_of hemstitch train -q short.* -o none
status_of hemstitch train -q equal.* -o tiny
status_of hemstitch train samples -o none
status_of hemstitch train missing samples/*.json -o none
status_of hemstitch train -q samples/*.json -o dict
hemstitch train -qf --maxdict 2K samples/*.json -o dict
status_of hemstitch train samples/*.json
status_of hemstitch train -o none
status_of hemstitch train --maxdict 10 samples/*.json -o none
status_of hemstitch train --dictID 0 samples/*.json -o none
ls -d none 2>&1
hemstitch train -h | head -1
