# label: threads
# What GNU grep -F prints for the same arguments, and its exit status: on made files with every difficulty, on this
# project's own sources, and on the corpora where they are.
needs grep sort
mkdir tree tree/deeper
printf 'one\ntwo one\n\nthree' >tree/no_end
printf 'aaaa\naAaA\nbab\n' >tree/overlaps
: >tree/empty
printf '\n\n\n' >tree/blank
printf 'text one\nbin\0ary one\0one\nmore one\n' >tree/binary
{
  seq 1 60000
  printf 'late zero 77\0 77\n77\n'
} >tree/deeper/binary_late
{
  seq 1 1000
  head -c 300000 /dev/zero | tr '\0' y
  seq 1 20000
  printf '\0 19999\n'
} >long_line  # by itself: the buffer that grep makes for it stays for the files behind
printf 'One\r\nONE\r\n\200\377one\n' >'tree/deeper/odd name'
printf 'hidden one\n' >tree/.hidden
ln -s ../tree/no_end tree/link
awk 'BEGIN { for (i = 0; i < 20000; ++i) printf "x%s", i % 7 ? "" : "\n" }' >tree/many_hits

# Lines are compared after sorting: folders are read in another order.
differences=0
mkdir seen
seen=$PWD/seen
same_as_grep() {
  grep -F "$@" >"$seen/grep.out" 2>"$seen/grep.err"
  local grep_status=$?
  hemstitch search "$@" >"$seen/own.out" 2>"$seen/own.err"
  local own_status=$?
  sed -i 's/^grep: /hemstitch: /' "$seen/grep.err"
  local part
  for part in grep.out grep.err own.out own.err; do sort -o "$seen/$part" "$seen/$part"; done
  if ! cmp -s "$seen/grep.out" "$seen/own.out" || ! cmp -s "$seen/grep.err" "$seen/own.err" ||
    [[ $grep_status != "$own_status" ]]; then
    echo "differs (exit $own_status, grep's $grep_status): $*"
    diff "$seen/grep.out" "$seen/own.out" | head -n 5
    diff "$seen/grep.err" "$seen/own.err" | head -n 5
    differences=1
  fi
}

long=$(head -c 256 /dev/zero | tr '\0' y)
every_options=('' -i -c -l -o '-o -b' '-n -b' '-o -i -n' '-c -o' '-l -c')
# Under sanitizers the tool takes long to start, so a few combinations with each option among them are enough there.
if [[ -n ${HEMSTITCH_SANITIZE-} ]]; then every_options=('' '-n -b' '-o -i -n' '-c -o' '-l -c'); fi
for options in "${every_options[@]}"; do
  for pattern in one ONE aa '' x 77 19999 nothing "$long" '-x' $'one\n77' $'a\n' $'\200'; do
    # shellcheck disable=SC2086
    same_as_grep $options -r -e "$pattern" tree
    # shellcheck disable=SC2086
    same_as_grep $options -e "$pattern" long_line
  done
  for file in no_end overlaps empty blank binary many_hits; do
    # shellcheck disable=SC2086
    same_as_grep $options one "tree/$file"
  done
  # shellcheck disable=SC2086
  same_as_grep $options -e one -e 'two one' -e '' -e wo tree/no_end tree/binary tree/empty
  # shellcheck disable=SC2086
  same_as_grep $options one tree/no_end tree tree/missing tree/binary
  # shellcheck disable=SC2086
  same_as_grep $options -r one tree/no_end tree/deeper tree/link
done
same_as_grep -r one tree/no_end
same_as_grep -r one tree/
same_as_grep one tree/link
cd tree || exit
same_as_grep -r one
cd ..
for folder in src docs; do
  for pattern in hemstitch $'std::\nspan' 'no such words anywhere' e; do
    same_as_grep -r -n -e "$pattern" "$HEMSTITCH_SOURCE/$folder"
    same_as_grep -r -o -b -i -e "$pattern" "$HEMSTITCH_SOURCE/$folder"
  done
done
if [[ -n ${HEMSTITCH_CORPORA-} ]]; then
  for pattern in the Dickens; do
    for options in -c -n '-o -b' -i; do
      # shellcheck disable=SC2086
      same_as_grep -r $options -e "$pattern" "$HEMSTITCH_CORPORA/canterbury" "$HEMSTITCH_CORPORA/calgary"
    done
  done
fi

# Standard input.
for options in '' -c -l -o -n; do
  # shellcheck disable=SC2086
  printf 'one\nx one' | grep -F $options one - tree/no_end >grep.out
  # shellcheck disable=SC2086
  printf 'one\nx one' | hemstitch search $options one - tree/no_end >own.out
  cmp grep.out own.out || differences=1
  # shellcheck disable=SC2086
  printf 'one\nx one' | hemstitch search $options one >own.out
  # shellcheck disable=SC2086
  printf 'one\nx one' | grep -F $options one >grep.out
  cmp grep.out own.out || differences=1
done
[[ $differences == 0 ]] && echo 'the same as grep'
