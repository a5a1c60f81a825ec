# Bash completion for hemstitch.
_hemstitch_formats() {
  hemstitch --help 2>/dev/null | tr -s ' \n' ' ' | sed -n 's/.*the format to write: \([^(]*\) (.*/\1/p' | sed 's/,//g; s/ or / /' | tr ' ' '\n'
}
_hemstitch() {
  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}
  local choices='' finders='brute_force lazy_scan coop_stitch window_index hash_chain hash_pairs level:'
  COMPREPLY=()
  # Bash splits --name=value at the '='.
  if [[ $word == '=' ]]; then
    word=''
  elif [[ $previous == '=' ]]; then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  case $previous in
    --backend) choices="auto $(hemstitch backends 2>/dev/null | awk '$2 == "usable" { print $1 }')" ;;
    --finder | --against) choices="$finders" ;;
    --format) choices="$(_hemstitch_formats) any" ;;
    --check) [[ ${COMP_WORDS[COMP_CWORD - 1]} == '=' ]] && choices='block content' ;;
    -B | --block-size) [[ $command == search ]] && return || choices='64K 256K 1M 4M' ;;
    --color | --colour) [[ ${COMP_WORDS[COMP_CWORD - 1]} == '=' ]] && choices='always never auto' ;;
    --span) choices='memory file pinned kernel' ;;
    --level) choices='1 2 3 4 5 6 7 8 9 10 11 12' ;;
    -T | --threads | --device | --memory | --gpu-memory | -e | --regexp | --seconds | --batch | --batches | --repeat-to | --range | --virtual | -m | --max-count | -A | -C | --label | \
      --after-context | --before-context | --context | --include | --exclude | --exclude-dir) return ;;
  esac
  if [[ $previous == --output-dir ]]; then
    mapfile -t COMPREPLY < <(compgen -d -- "$word")
    return
  fi
  if [[ -n $choices ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$word")
    return
  fi
  if [[ $word == -* ]]; then
    case $command in
      cat) choices='--files-from --threads --memory --gpu-memory --backend --device --reproducible --force --recursive --include --exclude --exclude-dir --format --no-check --range --dictionary
          --quiet --verbose --help' ;;
      bench) choices='--level --best --format --threads --block-size --memory --gpu-memory --backend --device --reproducible --seconds --span --batch --batches --repeat-to --json --compare --help' ;;
      index) choices='--output --force --threads --memory --quiet --verbose --help' ;;
      train) choices='--output --maxdict --dictID --force --recursive --include --exclude --exclude-dir --memory --quiet --help' ;;
      backends) choices='--calibrate --json --verbose --help' ;;
      evaluate) choices='--finder --all --format --backend --json --help' ;;
      analyze) choices='--finder --against --format --svg --json --help' ;;
      pages) choices='--pid --page --level --memory --backend --device --threads --svg --json --help' ;;
      search) choices='--regexp --file --fixed-strings --ignore-case --invert-match --word-regexp --line-regexp --max-count --count
          --files-with-matches --files-without-match --quiet --silent --only-matching --after-context --before-context --context
          --byte-offset --line-number --with-filename --no-filename --null --null-data --label --line-buffered --binary-files --color --colour --json --no-messages --recursive
          --dereference-recursive --include --exclude --exclude-dir --text --decompress --backend --threads --memory --help' ;;
      *) choices='--compress --decompress --test --list --json --help --version --level --best --fast --threads --block-size --linked --seekable --long --rsyncable --legacy
          --memory --gpu-memory --backend --device --reproducible --output --output-dir --stdout --force --keep --rm --no-sync --suffix --files-from --recursive --include --exclude --exclude-dir --multiple --format --name --no-name --index --index-name --check --no-check --verify --sparse
          --no-sparse --range --virtual --dictionary --quiet --verbose -0 -1 -2 -3 -4 -5 -6 -7 -8 -9 -10 -11 -12' ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$word")
    return
  fi
  ((COMP_CWORD == 1)) && mapfile -t COMPREPLY < <(compgen -W 'cat index train bench backends evaluate analyze pages search' -- "$word")
  mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$word")
}
complete -o filenames -F _hemstitch hemstitch
