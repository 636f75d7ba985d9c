# SPDX-License-Identifier: GPL-2.0-or-later
# Prints what zsh offers for a command line: complete.zsh FOLDER LINE; FOLDER has the file _stapgen.
# zsh completes at a terminal only, so a second zsh is given one.
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1= PS2= LISTMAX=10000; stty -echo rows 999 columns 200; unsetopt zle_bracketed_paste prompt_cr prompt_sp"
zpty -w shell "fpath=(${(qq)1} \$fpath); autoload -U compinit; compinit -u -D; zstyle ':completion:*' list-separator '#'"
zpty -w shell "list() { print -n 'be''gin'; zle list-choices; zle -R; print -n '=o''ver='; }; zle -N list; bindkey '^X' list; print rea''dy"
zpty -r -m shell out '*ready*'
zpty -n -w shell "$2"$'\x18'
zpty -r -m shell out '*begin*=over=*'
print -r -- "$out"
zpty -d shell
