# -r leaves what is compressed already, whatever its name is, and says so. One file is compressed, with a warning.
needs gzip
mkdir -p logs/sub
text 1000 >logs/syslog
text 1001 | gzip -n >logs/syslog.2.gz
text 1002 | hemstitch >logs/sub/no_suffix
text 1003 | hemstitch --format zlib >logs/told_by_its_suffix.zz
printf '\375' >logs/archive.xz; echo 7zXZ >>logs/archive.xz
printf 'PK\003\004 and more' >logs/report.docx
echo 'no gzip data' >logs/notes.gz
hemstitch -r --rm logs
names
echo '== again'
hemstitch -r logs
echo '== another format'
hemstitch -r --format gzip --output-dir out logs
(cd out && names)
echo '== -f takes all but those with the suffix'
hemstitch -rf logs
ls logs
echo '== a file that is too large for a batch'
rm -rf logs && mkdir logs
noise 300000 | gzip >logs/large.gz
echo small >logs/small
hemstitch -r --memory 3M -T1 logs
ls logs
echo '== one file'
cd logs
status_of hemstitch large.gz
status_of hemstitch -q large.gz -o quiet.lz4
status_of hemstitch -z large.gz -o asked.lz4
hemstitch -f large.gz -o forced.lz4
hemstitch -dc large.gz.lz4 | cmp - large.gz
hemstitch <large.gz >piped.lz4
