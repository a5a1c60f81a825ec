# .zst wherever the tool takes a compressed file: lists, tests, JSON, cat, search, tar, folders, bench, evaluate.
needs zstd python3 tar
text 20000 >data
noise 2000 >other
zstd -q data
zstd -qc --no-check <other >other.zst
zstd -qc -19 --long=24 <data | cat other.zst - >two.zst
: | zstd -qc >empty.zst
# Lists, as text and as JSON, and checks.
hemstitch -l data.zst other.zst two.zst empty.zst | awk '{ $3 = $5 = ""; print }'
hemstitch -lv two.zst | awk '{ $3 = $5 = ""; print }'
hemstitch -l --json data.zst | python3 -c '
import json, sys
(one,) = [json.loads(line) for line in sys.stdin]
print(one["content_bytes"], [frame["kind"] for frame in one["frames"]])'
status_of hemstitch -t data.zst other.zst two.zst empty.zst
head -c 3000 data.zst >cut.zst
status_of hemstitch -t cut.zst
hemstitch cat data.zst other.zst two.zst | cmp - <(cat data other other data)
hemstitch -dc --range 1000-2000 two.zst | cmp - <(cat other data | head -c 2000 | tail -c 1000)
# Lines in compressed files: the same as in plain ones.
hemstitch search -z -c 1999 data.zst other.zst two.zst empty.zst
hemstitch search -z -n -b 19999 two.zst | cmp - <(cat other data | grep -n -b -F 19999)
status_of hemstitch search -z -c 1999 cut.zst
# Archives, by either suffix; tar restores by the first bytes.
mkdir folder
mv data other folder
tar -I 'hemstitch --format zstd' -cf a.tar.zst folder
zstd -dqc a.tar.zst | tar -tf - | sort
rm -r folder
tar -I hemstitch -xf a.tar.zst
zstd -dqc data.zst | cmp - folder/data
tar -I 'zstd -q' -cf b.tzst folder
hemstitch -k -d b.tzst
tar -tf b.tar | sort
# Folders, there and back.
hemstitch -q -r --rm --format zstd -19 folder
find folder -type f | sort
hemstitch -t -r --format zstd folder
hemstitch -q -d -r --rm --format any folder
find folder -type f | sort
# The same into another folder; small files go together.
mkdir small
for file in {1..50}; do text "$file" >small/"$file"; done
hemstitch -q -r --format zstd --output-dir packed small
find packed -name '*.zst' | wc -l
hemstitch -q -d -r --format zstd --output-dir again packed
diff -r small again
# Speeds; of matches it has nothing to tell.
hemstitch bench --seconds 0 --format zstd -3 --level=-5 folder/data | awk 'NR > 2 { print $1, $2, $NF }'
status_of hemstitch evaluate --format zstd --finder hash_chain folder/data
