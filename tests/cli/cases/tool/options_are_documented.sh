# Each long option of the help is in the man page and in each completion, and the parser knows it.
# label: once
needs hemstitch
hemstitch --help >help
sed 's/--\[no-\]sparse/--sparse --no-sparse/' help | grep -oE -- '--[a-z][a-zA-Z-]+' | sort -u >options
[[ $(wc -l <options) -ge 30 ]] || echo "only $(wc -l <options) options found"
man=$HEMSTITCH_SOURCE/docs/man/hemstitch.1.md
completions=$HEMSTITCH_SOURCE/completions
while read -r option; do
  for file in "$man" "$completions/hemstitch.bash" "$completions/_hemstitch"; do
    grep -qE -- "(^|[^a-z-])$option([^a-z-]|\$)" "$file" || echo "$option is not in ${file##*/}"
  done
  grep -qE -- "-l ${option#--}( |\$)" "$completions/hemstitch.fish" || echo "$option is not in hemstitch.fish"
  # A known option may lack a value or a file; an unknown one is told as such.
  known=
  for command in '' index train bench backends evaluate analyze pages search; do
    # shellcheck disable=SC2086
    hemstitch $command "$option" 2>&1 </dev/null --help | grep -q 'no such option' || known=yes
  done
  if [[ -z $known ]]; then
    echo "$option is in the help, and the parser does not know it"
  fi
done <options
# And the help forgets none of them; --no-name is -n there.
for file in "$man" "$completions/hemstitch.bash" "$completions/_hemstitch" "$completions/hemstitch.fish"; do
  sed -E '/^set /d; /^complete/s/ -l ([a-zA-Z-]+)/ --\1/g' "$file" | grep -oE -- '--[a-z][a-zA-Z-]+' | sort -u | grep -vxFf options |
    grep -vx -e --no-name | sed "s/\$/ of ${file##*/} is not in the help/"
done
for name in HEMSTITCH_LEVEL HEMSTITCH_THREADS HEMSTITCH_BACKEND; do
  grep -q "$name" "$man" || echo "$name is not in the man page"
  grep -q "$name" help || echo "$name is not in the help"
done
