needs script
echo x >data
script -qec 'hemstitch -c data; echo "exit $?"; hemstitch data; hemstitch -dc data.lz4' typescript </dev/null | tr -d '\r'
script -qec hemstitch typescript </dev/null | head -n 1 | tr -d '\r'
