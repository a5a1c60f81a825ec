# A file that grows or shrinks while it is read, or whose size was never right, is compressed as it is read: with a
# warning, and its source stays. Readers that believe a header's size get the same content.
needs lz4 gzip
needs_watching
check() {
  for size in 1 4096 100000 5000000; do
    echo "== $1, as if it had $size bytes"
    HEMSTITCH_WATCH_BYTES=$size status_of watched hemstitch -T1 "${@:2}"
  done
}
restored() {
  for file in "$@"; do
    case $(hemstitch -l --json "$file") in
      *'"kind":"gzip"'*) gzip -dc <"$file" ;;
      *) lz4 -dcq "$file" ;;
    esac | cmp - log && hemstitch -dc "$file" | cmp - log && hemstitch -tq "$file"
  done
}
text 200000 >log
check 'one file' -f log
restored log.lz4
check 'checksum and linked blocks' -f --check=content --linked log
restored log.lz4
check gzip -f --format gzip log
restored log.gz
for size in 1 1288000 5000000; do
  HEMSTITCH_WATCH_BYTES=$size watched hemstitch -q <log >from_stdin.lz4 || echo "exit $?"
  restored from_stdin.lz4
  { # the output begins in the middle of its file
    hemstitch <log
    HEMSTITCH_WATCH_BYTES=$size watched hemstitch -q -T1 --memory 1M -B64K log -c || echo "exit $?"
  } >later.lz4
  hemstitch -dc later.lz4 | cmp - <(cat log log)
done
rm ./*.lz4 ./*.gz

echo '== a pipe: what comes after the size that the header states is a frame of its own'
HEMSTITCH_WATCH_BYTES=100000 watched hemstitch -q log -c | cat >piped.lz4
restored piped.lz4
hemstitch -l piped.lz4 | tail -n 1
echo '== a pipe, and less came than its header states: only small files are read before that'
HEMSTITCH_WATCH_BYTES=5000000 watched hemstitch -T1 --memory 1M -B64K log -c | wc -c
head -c 20 log >small
HEMSTITCH_WATCH_BYTES=4096 watched hemstitch -q small -c | cat | lz4 -dcq | cmp - small

echo '== in folders'
rm ./*.lz4
mkdir -p top/sub
mv log small top
head -c 3000 top/log >top/sub/other
for size in 100 4096; do
  HEMSTITCH_WATCH_BYTES=$size status_of watched hemstitch -rf top 2>&1 | sort
  for file in top/log top/small top/sub/other; do lz4 -dcq $file.lz4 | cmp - $file; done
done

echo '== the source stays'
HEMSTITCH_WATCH_BYTES=100 status_of watched hemstitch -f --rm top/log
HEMSTITCH_WATCH_BYTES=100 status_of watched hemstitch -rfq --rm top
names

echo '== a file that grows ends where it ended when it was opened: its end cannot run away'
noise 500000 >grows
head -c 5000000 grows >still
for format in lz4 gzip; do
  head -c 5000000 still >grows
  # The pipe is full long before the end of the file is read.
  hemstitch -T1 --memory 20M --format $format -c grows | { dd bs=1 count=100 status=none; echo more >>grows; cat; } >grown
  hemstitch -dc grown | cmp - still
  hemstitch -l grown | awk 'NR == 2 { print $1, $4 }'
done

echo '== and it is not said where nothing is wrong'
hemstitch -f top/log
