# A file that several arguments of -r lead to is taken once, by whatever way.
mkdir -p u/sub
echo a >u/a
echo b >u/b
ln u/a u/hard
echo c >u/sub/c
ln -s u link
ln -s a u/soft
told() {
  echo "$*: $(hemstitch -rcv "$@" 2>&1 >/dev/null | sed -n 's/^hemstitch: \(.*\): .*->.*/\1/p' | tr '\n' ' ')"
}
told u u/a
told u/a u
told u/a u/a ./u/a u//a link/a
told u u u/ ./u link
told u/sub u
told u u/sub u/sub/c
told u/soft u
(cd u && told a . ./a ../u/b)
# Others of the same name are others.
echo dash >./-
echo stdin | hemstitch -rc - ./- u/a | hemstitch -d
hemstitch -r missing/x elsewhere/x 2>&1
status_of hemstitch -rf --rm u u/a u/sub link/b
names
