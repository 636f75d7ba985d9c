# SPDX-License-Identifier: GPL-2.0-or-later
# Completion of stapgen for bash: the program itself says what may come next.

_stapgen() {
    local line=${COMP_LINE:0:COMP_POINT} program=${1/#\~\//$HOME/} words=() candidate about
    COMPREPLY=()
    # COMP_WORDS is split at = and : too; with read a backslash keeps a blank in its word.
    # shellcheck disable=SC2162
    read -a words <<<"$line"
    [[ $line == *[[:blank:]] ]] && words+=("")

    # What the reply stands in place of begins behind the last = or : of the word.
    local last=${words[${#words[@]} - 1]} before=
    [[ $last == *[=:]* ]] && before=${last%"${last##*[=:]}"}

    local candidates=() abouts=()
    while IFS=$'\t' read -r candidate about; do
        case $candidate$about in
            :files) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "${last#"$before"}"); return ;;
            :folders) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- "${last#"$before"}"); return ;;
        esac
        candidates+=("${candidate#"$before"}")
        abouts+=("$about")
    done < <("$program" complete -- "${words[@]:1}" 2>/dev/null)

    # Several are only listed where Tab was pressed twice: then with what they are.
    local i width=0
    if ((${#candidates[@]} > 1)) && [[ $COMP_TYPE == 63 ]]; then
        for candidate in "${candidates[@]}"; do
            ((${#candidate} > width)) && width=${#candidate}
        done
        for i in "${!candidates[@]}"; do
            printf -v candidate "%-*s  %s" "$width" "${candidates[i]}" "${abouts[i]}"
            COMPREPLY+=("${candidate:0:COLUMNS > 20 ? COLUMNS - 2 : 78}")
        done
        compopt -o nosort
        return
    fi
    for candidate in "${candidates[@]}"; do
        printf -v candidate %q "$candidate"
        COMPREPLY+=("$candidate")
    done
}

complete -F _stapgen stapgen
