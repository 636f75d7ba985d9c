# SPDX-License-Identifier: GPL-2.0-or-later
# Prints what bash is given for a command line: complete.bash FILE LINE [COMP_TYPE]; FILE has the completion.
# As bash-completion calls it, for `sudo stapgen`, too.
. /usr/share/bash-completion/bash_completion
. "$1"
compopt() { :; }  # no line is being edited
COMP_LINE=$2 COMP_POINT=${#2} COMP_TYPE=${3-9} COLUMNS=100
read -ra COMP_WORDS <<<"$2"
[[ $2 == *" " ]] && COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
if [[ ${COMP_WORDS[0]} == sudo ]]; then
    _command_offset 1
else
    _stapgen "${COMP_WORDS[0]}"
fi
for reply in "${COMPREPLY[@]}"; do
    printf '%s\n' "$reply"
done
