# A link of another program's name restores as that program does, whatever the first word, and one called zcat never writes a file.
needs gzip
for name in gunzip zcat unlz4 lz4cat unzstd zstdcat; do ln -s "$(command -v hemstitch)" $name; done
text 1000 >data
cp data kept
hemstitch -q --format gzip data
hemstitch -q data
hemstitch -q --format zstd data
rm data
# gunzip removes what it restored, as gzip's does; -k keeps it.
./gunzip -k data.gz && cmp data kept && rm data
./gunzip data.gz && cmp data kept
names
./unlz4 -f data.lz4 && ./unzstd -f data.zst && cmp data kept
names
./gunzip -t data.lz4
./gunzip -c data.lz4 | cmp - kept
./gunzip <data.lz4 | cmp - kept
# To stdout, from files, stdin and folders, in every format.
for program in zcat lz4cat zstdcat; do
  for file in data.lz4 data.zst; do
    ./$program $file | cmp - kept
    ./$program <$file | cmp - kept
  done
done
mkdir folder
mv data.lz4 folder
hemstitch -q --format gzip data -o folder/x.gz
./zcat -r folder | cmp - kept
./lz4cat -r folder | cmp - kept
./zcat -f kept | cmp - kept
# A file whose name is a command's is a file.
mv data.zst search
./zcat search | cmp - kept
./zcat bench
# Nothing else is written, whatever is asked.
before=$(ls -R)
for words in '-z kept' '-9 -z kept' '-o new folder/x.gz' '--output-dir new folder/x.gz' '--index folder/x.gz' '--index-name new folder/x.gz' \
  '-t folder/x.gz' '-l folder/x.gz' '--rm folder/x.gz' kept; do
  # shellcheck disable=SC2086
  status_of ./zcat $words
done
diff <(echo "$before") <(ls -R)
(exec -a -/usr/bin/zcat hemstitch folder/x.gz) | cmp - kept
./zcat --version | sed 's/[0-9].*/N/'
