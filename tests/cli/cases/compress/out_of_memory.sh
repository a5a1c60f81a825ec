# More memory than any machine has: said in words.
[[ -z $HEMSTITCH_SANITIZE ]] || { echo 'skipped: sanitizers end the process instead'; exit 77; }
text 300000 >data
hemstitch bench --repeat-to 8000000G data 2>&1 >/dev/null
