# -c writes frame after frame, and restoring takes them all, as other tools do.
echo one >a
echo two >b
hemstitch -c a b >ab.lz4
hemstitch -dc ab.lz4
hemstitch -dc ab.lz4 - <ab.lz4
hemstitch -l ab.lz4 | awk '{ print $1, $2, $4 }'
