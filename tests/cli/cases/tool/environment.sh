text 20000 >data
hemstitch -9 data -o nine.lz4
HEMSTITCH_LEVEL=9 hemstitch data -o environment.lz4
HEMSTITCH_LEVEL=12 hemstitch -9 data -o flag.lz4
same nine.lz4 environment.lz4
same nine.lz4 flag.lz4
HEMSTITCH_THREADS=1 hemstitch -v data 2>&1 | grep -o '1 thread,'
HEMSTITCH_THREADS=1 hemstitch -fvT2 data 2>&1 | grep -o '2 threads'
HEMSTITCH_THREADS=1 hemstitch -dv -c data.lz4 2>&1 >/dev/null | grep -o '1 thread,'
HEMSTITCH_BACKEND=fake hemstitch-fake -fv data 2>&1 | grep -o 'backend [a-z]*'
HEMSTITCH_BACKEND=fake hemstitch-fake -fv --backend cpu data 2>&1 | grep -o 'backend [a-z]*'
HEMSTITCH_BACKEND=fake hemstitch-fake -fv --backend auto data 2>&1 | grep -o 'backend [a-z]*'
HEMSTITCH_LEVEL='' hemstitch -f data
status_of env HEMSTITCH_LEVEL=13 hemstitch -f data
status_of env HEMSTITCH_LEVEL=nine hemstitch bench data
status_of env HEMSTITCH_THREADS=many hemstitch -f data
hemstitch -f --reproducible data
hemstitch -f --backend reference data -o reference.lz4
same data.lz4 reference.lz4
HEMSTITCH_BACKEND=cpu hemstitch -f --reproducible data
same data.lz4 reference.lz4
hemstitch -dc --reproducible data.lz4 | cmp - data
status_of env HEMSTITCH_BACKEND=nonsense hemstitch -f data 2>&1 | sed -E 's/(build are auto, cpu).* \(/\1... (/'
