# Messages hold no codes that a terminal obeys, wherever they come from, and have a readable length.
control=$(printf '\302\23331mred\342\200\256txt\342\201\246\342\200\217')
echo junk >"$control.lz4"
status_of hemstitch -t "$control.lz4"
status_of hemstitch -t "$(printf 'caf\303\251 \344\270\255\360\237\230\200 \351 \233 \340\202\233 \302')"
status_of hemstitch --level "$(printf '1\033[2J\nhemstitch: all is well')" x
status_of hemstitch "$(printf -- '--no\033such')"
status_of hemstitch --format "$(printf 'lz\2334')" x
HEMSTITCH_LEVEL=$(printf '\033[31m') status_of hemstitch x
HEMSTITCH_BACKEND=$(printf '\007') status_of hemstitch x 2>&1 | sed 's/auto, cpu.* (/auto, cpu... (/'
HEMSTITCH_DEVICE=$(printf '\033]0;') status_of hemstitch --backend cpu --device "$(printf '\033c')" x
status_of hemstitch search --color="$(printf '\033c')" x
echo content | hemstitch >"$control"
hemstitch -l "$control" | awk '{ print $NF }'
echo '== long ones'
long=$(printf 'long-%.0s' {1..40})
status_of hemstitch "$long/$long/$long.end"
status_of hemstitch --level "$(printf 'x%.0s' {1..50000})" x 2>&1 | tr -s x | cut -c 1-60
hemstitch --level "$(printf 'x%.0s' {1..50000})" x 2>&1 | wc -c
