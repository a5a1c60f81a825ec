# A folder that becomes a link between two steps with one file: the steps stay in the folder in which the first one was.
needs_watching
swap='mv top/sub top/real; ln -s ../elsewhere top/sub'
try() {
  echo "== $1, $2: hemstitch ${*:3}"
  rm -rf top elsewhere
  mkdir -p top/sub elsewhere
  for name in a b; do
    text 1000 >top/sub/$name
    text 999 >elsewhere/$name
  done
  if [[ $3 == -d* ]]; then hemstitch -r --rm top elsewhere; fi
  cp -a elsewhere before
  HEMSTITCH_WATCH_AT="$1 $swap" watched hemstitch -T1 "${@:3}" 2>&1
  diff -r elsewhere before
  rm -r before
  (cd top/real && names)
}
try renameat2 'a stream' top/sub/a
try renameat2 'a stream' -d top/sub/a.lz4
try linkat 'a batch' -r top
try linkat 'a batch' -dr top
try unlinkat 'a stream' --rm top/sub/a
try renameat2 'a batch' -r --rm top
