# A name tells a format in one way: with -o, with -d, and under -r, in upper and lower case.
needs gzip
text 100 >data
for name in x.lz4 x.gz x.zz x.tgz x.taz x.bgz x.vcf.bgz x.tlz4 x.GZ x.Lz4 x.TGZ; do
  hemstitch -q data -o "$name"
  kind=$(hemstitch -l --json "$name" 2>/dev/null | sed 's/.*"kind":"\([a-z0-9]*\)".*/\1/')
  hemstitch -dq --rm "$name"
  echo "$name: $kind, $(echo x*)"
  cmp data x* && rm x*
done
gzip -n <data >x.tgz
gzip -n <data >y.GZ
hemstitch -d x.tgz
gzip -dc x.tgz | cmp - x.tar
mkdir top
mv x.tgz y.GZ top
hemstitch -dr --format gzip top
ls top
echo '== and when compressing'
rm top/x.tar top/y
hemstitch -r --format gzip top
status_of hemstitch --format gzip top/y.GZ
cp data archive.tlz4
status_of hemstitch archive.tlz4
cp data .gz
status_of hemstitch -d .gz
