# The words that bash would offer.
# shellcheck source=completions/hemstitch.bash
source "$HEMSTITCH_SOURCE/completions/hemstitch.bash"
offer() {
  COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
  _hemstitch
  echo "$*: ${COMPREPLY[*]}"
}
touch data
offer hemstitch --no
offer hemstitch b
offer hemstitch c
offer hemstitch cat --r
offer hemstitch i
offer hemstitch index --f
offer hemstitch --js
mkdir folder
offer hemstitch --output-dir ''
rmdir folder
offer hemstitch da
offer hemstitch --backend c
offer hemstitch --format ''
offer hemstitch --check = c
offer hemstitch bench --c
offer hemstitch backends --
