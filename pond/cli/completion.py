"""`pond completion`: the script by which a shell completes pond's commands, options, clients and session ids."""

from typing import Annotated

import typer

from pond.cli.terminal import say
from pond.diagnostics.nearest import unknown

# Each script asks pond itself (`cli.completing`), which prints a word a line with what it means behind a tab, or
# `:files` or `:dirs` where the shell knows better.
_BASH = r"""# Completion of pond for bash.
_pond() {
    local word meaning current="${COMP_WORDS[COMP_CWORD]}" kind=
    [[ $current == "=" ]] && current=
    COMPREPLY=()
    while IFS=$'\t' read -r word meaning; do
        case $word in
            :files) kind=f ;;
            :dirs) kind=d ;;
            *) COMPREPLY+=("$word") ;;
        esac
    done < <(pond __complete bash "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    if [[ $kind ]]; then
        type compopt &>/dev/null && compopt -o filenames
        while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -$kind -- "$current")
    fi
}
complete -F _pond pond
"""
_ZSH = r"""#compdef pond
# Completion of pond for zsh.
_pond() {
    local word meaning
    local -a described
    while IFS=$'\t' read -r word meaning; do
        case $word in
            :files) _files; return ;;
            :dirs) _files -/; return ;;
        esac
        described+=("${word//:/\\:}:$meaning")
    done < <(pond __complete zsh "${(@)words[2,CURRENT]}" 2>/dev/null)
    _describe -V pond described
}
if [[ $funcstack[1] == _pond ]]; then _pond "$@"; else compdef _pond pond; fi
"""
_FISH = r"""# Completion of pond for fish.
function __pond_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in (pond __complete fish $words[2..-1] "$current" 2>/dev/null)
        switch $line
            case ':files*'
                __fish_complete_path $current
            case ':dirs*'
                __fish_complete_directories $current
            case '*'
                echo $line
        end
    end
end
complete -c pond -f -k -a '(__pond_complete)'
"""
SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}


def run(
    shell: Annotated[str, typer.Argument(metavar="bash|zsh|fish", help="The shell to print the script for.")],
) -> int:
    if shell not in SCRIPTS:
        raise unknown("shell", shell, SCRIPTS)
    say(SCRIPTS[shell], end="")
    return 0
