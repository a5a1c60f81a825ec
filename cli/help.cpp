#include "cli/help.hpp"

namespace hemstitch::cli {

const char* const kShortHelp =
    R"(hemstitch compresses and restores LZ4 files, on all cores.

  hemstitch FILE                   compress FILE to FILE.lz4; FILE stays
  hemstitch -d FILE.lz4            restore FILE
  tar -I hemstitch -cf A.tar.lz4 FOLDER
                                   one archive of a folder (-xf unpacks it)
  hemstitch search -rz WORDS FOLDER
                                   as grep -F, in compressed files as well

  -1 ... -12  faster ... smaller   -c  write to stdout     -t  test
  -o FILE     name the output      -f  overwrite           -l  list
  -T N        threads              --rm  remove the source when done

'hemstitch -h' lists all options, 'man hemstitch' explains them.
)";

const char* const kHelp =
    R"(hemstitch [OPTION]... [FILE]...     compress each FILE to FILE.lz4
hemstitch -d [OPTION]... [FILE]...  restore each FILE.lz4 to FILE
hemstitch cat [OPTION]... [FILE]... restore each FILE to stdout, as -dc
hemstitch bench [OPTION]... [FILE]...
hemstitch backends [--calibrate] [--json] [-vv]
hemstitch evaluate [OPTION]... FILE...
hemstitch analyze [OPTION]... FILE
hemstitch search [OPTION]... PATTERN [PATH]...

Without a FILE, or where it is '-': stdin to stdout. The source is kept.
Several short options may stand together: -dcf, -9k, -T2.

What to do (default: compress)
  -z, --compress        compress, also what has the suffix .lz4 already
  -d, --decompress      restore
  -t, --test            restore without writing; check everything
  -l, --list            show sizes, ratio and checks; with -v, each frame
      --json            as JSON, an object for each file
  -h, --help            this text
  -V, --version         the version

How hard to work
  -1 ... -12, --level N faster ... smaller (default: 1)
  --best                as -12
  --fast[=N]            faster and larger than -1; N from 1 (default: 1)
  -T, --threads N       threads; 0: one a core (default: 0)
  -B, --block-size SIZE 64K, 256K, 1M, 4M, or lz4's 4 to 7 (default: 256K)
  --linked              let blocks refer to those before them: smaller, but
                        restored one after the other (default: independent);
                        lz4's -BD, -BI and -BX are known as well
  --memory SIZE         most memory for buffers (default: no limit)
  --backend NAME        where to work: auto, the fastest for the size, or a
                        name that 'hemstitch backends' lists (default: auto)
  --device DEVICE       which device of the backends cuda and webgpu: a number
                        or a part of a name in 'hemstitch backends -vv', or a
                        list of them, of which the first usable one is taken
  --reproducible        the bytes that every GPU writes, from any machine;
                        slow without a GPU

What to write
  -o, --output FILE     the output's name; '-' is stdout
  --output-dir DIR      write to DIR instead, with -r in folders as below each
                        FILE
  -c, --stdout          write to stdout
  -f, --force           overwrite files, write compressed data to a terminal,
                        compress what has the suffix .lz4 already, take a
                        dictionary of another id; with -dc, pass on unchanged
                        what no format is known for
  -k, --keep            keep the source (default)
  --rm                  remove the source when its output is complete and on
                        the disk, unless it changed since it was read
  --no-sync             with --rm: do not wait for the disk
  -r, --recursive       take the files in folders, each by itself
  -m, --multiple        as lz4: each FILE has its own output, as it has anyway
  --format lz4          the format to write (default: lz4)
  --check[=content]     checksum each block; with =content, the whole content
                        as well (default: --check)
  --no-check            write no checksums; with -d, verify none
  --[no-]sparse         leave holes for zeros when restoring to a file
                        (default: --sparse)
  --range A-B           with -d: bytes A up to B of the content; A- is up to
                        its end, -N its last N bytes
  -D, --dictionary FILE history for every block; restoring needs it again

What to say
  -q, --quiet           errors alone: no warnings, summaries or progress,
                        whatever -v says
  -v, --verbose         backend, threads, ratio and speed of each file

bench                   time round trips; without FILE, made data
  -1 ... -12            the levels (default: 1, 3, 6, 9 and 12)
  --seconds N           for each row, at least (default: 1)
  --span SPAN           memory (default), file, or on a GPU alone: pinned (with
                        the transfers), kernel
  --repeat-to SIZE      each FILE over and over, up to SIZE
  --json                as a recorded run
  --compare OLD NEW     two recorded runs of one machine: exit 1 where a row
                        is over 5% slower or larger
  -B, -T, --memory, --backend, --device, --reproducible
                        as above
backends                what this build can run on; --json as JSON; -vv adds
                        how full each kernel keeps a GPU, and the memory
                        that a batch takes there
  --calibrate           measure first what auto chooses by, and keep it
evaluate                judge match finders on each FILE
  --finder DESCRIPTION  which; several times for a table
                        (default: coop_stitch)
  --all                 every finder and preset
  --json                as a recorded run
analyze                 show where the matches of FILE point
  --finder DESCRIPTION  which (default: brute_force:window_size=65535)
  --against DESCRIPTION the one to compare with
                        (default: coop_stitch:near-1k:min_match_len=5)
  --svg OUTPUT          draw a map
  --json                as JSON
search                  show lines that hold a fixed string, as grep -F does
  -e, --regexp PATTERN  a pattern; several times for several
  -F, --fixed-strings   what it does anyway
  -i, --ignore-case     letters match both cases
  -v, --invert-match    lines without one
  -w, --word-regexp, -x, --line-regexp
                        whole words, whole lines
  -m, --max-count N     the first N lines of each file
  -c, --count           how many lines
  -l, --files-with-matches, -L, --files-without-match
                        names of files alone
  -q, --quiet, --silent nothing, but for the exit status
  -o, --only-matching   each match by itself
  -A, --after-context N, -B, --before-context N, -C, --context N
                        also lines around
  -b, --byte-offset     where in the file
  -n, --line-number     the number of the line
  -H, --with-filename, -h, --no-filename
                        names of files before lines, or not
  -Z, --null            a zero byte behind them
  --color[=WHEN]        always, never or auto (default: auto); or --colour
  --json                an object a line
  -s, --no-messages     nothing about files that cannot be read
  -r, --recursive, -R, --dereference-recursive
                        the files in folders; and behind links
  --include GLOB, --exclude GLOB, --exclude-dir GLOB
                        by their names
  -a, --text, -I        binary files are text; or hold no match
  -z, --decompress      search in what compressed files restore to
  -T, --memory (default: 256M) as above, --help. The exit status is grep's:
                        0 found, 1 not, 2 error
'hemstitch evaluate -h' says how finders are described.

SIZE is a number of bytes, with K, M or G for powers of 1024.
HEMSTITCH_LEVEL, HEMSTITCH_THREADS and HEMSTITCH_BACKEND set defaults.
Exit status: 0 done, 1 error, 2 warning.
)";

}  // namespace hemstitch::cli
