# label: once
# The scripts that take the place of igzip, unpigz and bgzip, beside what these programs do.
needs gzip bgzip igzip
own=$HEMSTITCH_SOURCE/cli/libexec
text 300000 >data
gzip -kc data >data.gz
cat data.gz data.gz >two.gz
# As containerd calls them.
"$own/igzip" -d -c <data.gz | cmp - data
"$own/igzip" -dc <two.gz | cmp - <(igzip -dc <two.gz)
cp "$own/igzip" unpigz
./unpigz -d -c <data.gz | cmp - data
head -c 5000 data.gz >cut.gz
status_of "$own/igzip" -d -c <cut.gz >/dev/null
status_of "$own/igzip" data
status_of ./unpigz -d
rm unpigz data.gz two.gz cut.gz

# both NAME ARGUMENTS: by bgzip and by ours, each in a folder of its own with the same files; what they leave and print is the same.
both() {
  local name=$1 who
  shift
  rm -rf theirs ours
  mkdir theirs ours
  for who in theirs ours; do
    local program=bgzip
    [[ $who == theirs ]] || program=$own/bgzip
    cp data small "$who"
    bgzip -kc data >"$who/whole.gz"
    bgzip -r "$who/whole.gz"
    (
      cd "$who" || exit
      "$program" "$@" <../small >../$who.out 2>../$who.err
      echo "exit $?" >>../$who.out
      for file in *.gz; do [[ ! -e $file ]] || bgzip -dc "$file" >"${file%.gz}.content"; done
      find . -type f ! -name '*.gz*' -exec cksum {} + | sort -k 3
      find . -type f | sort
    ) >$who.left
  done
  if cmp -s theirs.left ours.left; then echo "$name: leaves the same"; else diff theirs.left ours.left; fi
  case " $* " in
    *' -c '* | *' -dc '* | *' --stdout '*) ;;
    *) cmp -s theirs.out ours.out || diff theirs.out ours.out ;;
  esac
  # What is compressed to stdout.
  if [[ " $* " == *' -c '* ]]; then
    cmp <(head -c -7 ours.out | bgzip -dc) <(head -c -7 theirs.out | bgzip -dc)
  fi
  [[ ! -s ours.err ]] || sed 's/^/ours: /' ours.err
}
text 1000 >small
both plain data
both keep -k data
both index -ik data
both 'index, long' --index --keep data
both level -l 9 -k data
both 'level, long' --compress-level=1 --threads 2 -k data
both restore -d whole.gz
both 'restore, keep' -dk whole.gz
both test -t whole.gz
both stdout -c data
both stdin -c
both force -f -@2 data
both range -b 100000 -s 50 whole.gz
both 'range to the end' -b 1900000 whole.gz
both reindex -r whole.gz
both 'reindex, named' --reindex --index-name other.gzi whole.gz
both 'index, named' -i -I other.gzi data
both 'index of stdin' -c -i --index-name=other.gzi
both 'same blocks' -g -I whole.gz.gzi -k data
both 'range with an index' -b 100000 -s 50 -I whole.gz.gzi whole.gz
status_of "$own/bgzip" -r data
status_of "$own/bgzip" -r
status_of "$own/bgzip" -c -i <small >/dev/null
# What other versions have: names for outputs, and blocks that end where lines do, which ours never do.
"$own/bgzip" -i --binary -o named.gz data
"$own/bgzip" -c -i data >data.out
cmp named.gz.gzi data.gz.gzi
"$own/bgzip" -d --output=named named.gz
cmp data named
cp named.gz b.bgz
"$own/bgzip" -d b.bgz && cmp data b
"$own/bgzip" --version | sed 's/[0-9].*/N/'
# Blocks of another size.
printf '\1\0\0\0\0\0\0\0\144\0\0\0\0\0\0\0\144\0\0\0\0\0\0\0' >other.gzi
status_of "$own/bgzip" -g -I other.gzi small
status_of "$own/bgzip" -g -I named.gz.gzi small
status_of "$own/bgzip" -I x.gzi data small
# The tool's own option.
hemstitch -c --format bgzf --index-name=k.gzi data >data.out && cmp k.gzi named.gz.gzi
hemstitch index -q -o l.gzi named.gz && cmp l.gzi k.gzi
status_of hemstitch -t --index-name k.gzi named.gz data.gz
status_of hemstitch index -o k.gzi named.gz data.gz
status_of "$own/bgzip" -l x data
"$own/bgzip" -h | head -n 1
