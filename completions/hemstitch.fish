# Fish completion for hemstitch.
function __hemstitch_backends
    echo auto
    hemstitch backends 2>/dev/null | awk '$2 == "usable" { print $1 }'
end

set -l main 'not __fish_seen_subcommand_from bench backends evaluate analyze'
set -l effort 'not __fish_seen_subcommand_from backends evaluate analyze'
set -l finders 'brute_force lazy_scan coop_stitch window_index hash_chain hash_step level:'

complete -c hemstitch -n 'test (count (commandline -opc)) -eq 1' -a bench -d 'Time round trips in memory'
complete -c hemstitch -n 'test (count (commandline -opc)) -eq 1' -a backends -d 'What this build can run on'
complete -c hemstitch -n 'test (count (commandline -opc)) -eq 1' -a evaluate -d 'Judge match finders'
complete -c hemstitch -n 'test (count (commandline -opc)) -eq 1' -a analyze -d 'Show where matches point'

complete -c hemstitch -s h -l help -d 'List all options'
complete -c hemstitch -n $effort -l level -x -a '(seq 12)' -d 'Effort, from the fastest to the smallest'
complete -c hemstitch -n $effort -l best -d 'As -12'
complete -c hemstitch -n $effort -s T -l threads -x -d 'Number of threads, 0 is one a core'
complete -c hemstitch -n $effort -s B -l block-size -x -a '64K 256K 1M 4M' -d 'Block size'
complete -c hemstitch -n $effort -l memory -x -d 'Most memory for buffers'
complete -c hemstitch -n $effort -l backend -x -a '(__hemstitch_backends)' -d 'Where to work'
complete -c hemstitch -n $main -s q -l quiet -d 'Errors alone'

complete -c hemstitch -n $main -s d -l decompress -d 'Restore'
complete -c hemstitch -n $main -s t -l test -d 'Restore without writing'
complete -c hemstitch -n $main -s l -l list -d 'Show sizes, ratio and checks'
complete -c hemstitch -n $main -s V -l version -d 'Show the version'
complete -c hemstitch -n $main -l fast -d 'Faster and larger than -1'
complete -c hemstitch -n $main -l linked -d 'Let blocks refer to those before them'
complete -c hemstitch -n $main -s o -l output -r -F -d 'Name of the output'
complete -c hemstitch -n $main -s c -l stdout -d 'Write to stdout'
complete -c hemstitch -n $main -s f -l force -d 'Overwrite files'
complete -c hemstitch -n $main -s k -l keep -d 'Keep the source'
complete -c hemstitch -n $main -l rm -d 'Remove the source when its output is complete'
complete -c hemstitch -n $main -s r -l recursive -d 'Take the files in folders'
complete -c hemstitch -n $main -l format -x -a lz4 -d 'Format to write'
complete -c hemstitch -n $main -l check -d 'Checksum each block; =content: the content as well'
complete -c hemstitch -n $main -l no-check -d 'No checksums'
complete -c hemstitch -n $main -l sparse -d 'Leave holes for zeros'
complete -c hemstitch -n $main -l no-sparse -d 'Write zeros'
complete -c hemstitch -n $main -l range -x -d 'Bytes A up to B of the content'
complete -c hemstitch -n $main -s D -l dictionary -r -F -d 'History for every block'
complete -c hemstitch -n $main -s v -l verbose -d 'Backend, threads, ratio and speed'

complete -c hemstitch -n '__fish_seen_subcommand_from bench' -l seconds -x -d 'Least time for each row'
complete -c hemstitch -n '__fish_seen_subcommand_from bench' -l compare -d 'Hold two recorded runs against each other'
complete -c hemstitch -n '__fish_seen_subcommand_from bench backends evaluate analyze' -l json -d 'As JSON'

complete -c hemstitch -n '__fish_seen_subcommand_from evaluate analyze' -l finder -x -a "$finders" -d 'Which finder'
complete -c hemstitch -n '__fish_seen_subcommand_from evaluate' -l all -d 'Every finder and preset'
complete -c hemstitch -n '__fish_seen_subcommand_from evaluate' -l backend -x -a reference -d 'Where to search'
complete -c hemstitch -n '__fish_seen_subcommand_from analyze' -l against -x -a "$finders" -d 'The finder to compare with'
complete -c hemstitch -n '__fish_seen_subcommand_from analyze' -l svg -r -F -d 'Draw a map'
