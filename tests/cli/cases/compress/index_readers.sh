# Indexes of gzip files beside those of indexed_gzip and rapidgzip: each reads what the others write. These two are Python's; they come by tools/setup test.
python=$HEMSTITCH_SOURCE/build/tools/gzip-readers/bin/python
needs gzip pigz "$python"
text 2500000 >data
gzip -kc data >gzip.gz
pigz -p 2 -kc data >pigz.gz
{ gzip -c data; printf 'more\n' | gzip -c; : | gzip -c; gzip -1c data; } >members.gz
for file in gzip pigz members; do
  for threads in 1 2 4; do
    hemstitch index -f -T $threads $file.gz
    "$python" - $file.gz $threads <<'READ' || echo "others on $file.gz"
import gzip, sys
import indexed_gzip, rapidgzip
name = sys.argv[1]
content = gzip.open(name).read()
places = [0, 1, 4194304, 5000001, len(content) // 2, len(content) - 10]
with indexed_gzip.IndexedGzipFile(name, index_file=name + '.gzidx', auto_build=False) as file:
    assert len(list(file.seek_points())) > 3
    for place in places:
        file.seek(place)
        assert file.read(3000) == content[place:place + 3000], ('indexed_gzip', place)
with rapidgzip.open(name, parallelization=2) as file:
    file.import_index(name + '.gzidx')
    for place in places:
        file.seek(place)
        assert file.read(3000) == content[place:place + 3000], ('rapidgzip', place)
READ
  done
  "$python" - $file.gz <<'WRITE'
import sys
import indexed_gzip, rapidgzip
name = sys.argv[1]
with indexed_gzip.IndexedGzipFile(name, spacing=1 << 20) as file:
    file.build_full_index()
    file.export_index(name + '.indexed')
with rapidgzip.open(name, parallelization=2) as file:
    file.export_index(name + '.rapid')
WRITE
  gzip -dc $file.gz >content
  for index in indexed rapid; do
    cp $file.gz.$index $file.gz.gzidx
    for place in 0 1 4194304 5000001 9000000; do
      hemstitch -dc --range $place-$((place + 3000)) $file.gz | cmp - <(tail -c +$((place + 1)) content | head -c 3000) || echo "$index at $place of $file.gz"
    done
    # It is what is used: nothing before the point is looked at.
    cp $file.gz damaged.gz
    printf 'damage' | dd of=damaged.gz bs=1 seek=3000 conv=notrunc status=none
    cp $file.gz.$index damaged.gz.gzidx
    hemstitch -dc --range 9000000-9003000 damaged.gz | cmp - <(tail -c +9000001 content | head -c 3000) || echo "$index of $file.gz is not used"
  done
done
