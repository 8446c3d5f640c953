// SPDX-License-Identifier: Apache-2.0
// What the completion scripts have besides the table of verbs.
#pragma once

#include <string_view>

namespace dormouse::cli {

// After the functions _dormouse_verbs, _dormouse_options, _dormouse_value and
// _dormouse_first, which both shells understand. The program that is completed is
// asked itself for names, as it was typed.
inline constexpr std::string_view kCandidates = R"sh(
_dormouse_candidates() {  # PROGRAM WORD-BEFORE WORD-BEING-TYPED WORD...
    [ -n "${ZSH_VERSION-}" ] && setopt local_options sh_word_split
    local program=$1 before=$2 current=$3 word verb='' given=0 found=''
    shift 3
    for word in "$@"; do
        case "$word" in -*) continue ;; esac
        if [ -z "$verb" ]; then
            verb=$word
        elif [ $given -eq 0 ] && [ "${verb#* }" = "$verb" ] && [ -n "$(_dormouse_verbs "$verb")" ]; then
            verb="$verb $word"
        else
            given=$((given + 1))
        fi
    done
    case "$before" in --*) found=$(_dormouse_value "$verb $before") ;; esac
    if [ -z "$found" ]; then
        case "$current" in
            -*) found=$(_dormouse_options "$verb") ;;
            *)
                found=$(_dormouse_verbs "$verb")
                [ -z "$found" ] && [ $given -eq 0 ] && found=$(_dormouse_first "$verb")
                ;;
        esac
    fi
    case "$found" in
        @desktops) "$program" list --names 2>/dev/null ;;
        -) ;;
        *) printf '%s\n' $found ;;
    esac
}
)sh";

inline constexpr std::string_view kBashEnd = R"sh(
_dormouse() {
    local before='' current=${COMP_WORDS[COMP_CWORD]} IFS=$'\n'
    [ "$COMP_CWORD" -gt 0 ] && before=${COMP_WORDS[COMP_CWORD - 1]}
    COMPREPLY=($(compgen -W "$(IFS=$' \n'; _dormouse_candidates "${COMP_WORDS[0]}" "$before" "$current" \
        "${COMP_WORDS[@]:1:COMP_CWORD-1}")" -- "$current"))
}
complete -o default -F _dormouse dormouse
)sh";

inline constexpr std::string_view kZshEnd = R"sh(
_dormouse() {
    local -a found
    found=(${(f)"$(_dormouse_candidates "${words[1]}" "${words[CURRENT-1]}" "${words[CURRENT]}" \
        "${(@)words[2,CURRENT-1]}")"})
    if (( ${#found} )); then compadd -- "${found[@]}"; else _files; fi
}
compdef _dormouse dormouse
)sh";

inline constexpr std::string_view kFishBegin = R"sh(
function __dormouse_words
    set -l words (commandline -opc)
    for word in $words[2..]
        string match -q -- '-*' $word; or echo $word
    end
end
function __dormouse_at  # whether these are the words so far
    test (string join ' ' -- (__dormouse_words)) = "$argv"
end
function __dormouse_in  # whether they begin so
    string match -q -- "$argv *" (string join ' ' -- (__dormouse_words))' '
end
function __dormouse_desktops
    set -l program (commandline -opc)[1]
    $program list --names 2>/dev/null
end
)sh";

}  // namespace dormouse::cli
