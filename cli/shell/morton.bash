# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Completion of `morton` for bash. The program answers itself: `morton complete WORDS...` (cli/shell/complete.hpp).

_morton() {
  local program=${COMP_WORDS[0]/#\~/$HOME} line=${COMP_LINE:0:COMP_POINT}
  local -a words lines
  # Not COMP_WORDS: bash divides those at ':' and '=' too.
  # shellcheck disable=SC2162  # a backslash before a blank counts
  read -a words <<<"$line"
  local last=${words[-1]-}
  if [[ $line == *[[:space:]] && $line != *\\[[:space:]] ]]; then
    words+=("")
    last=
  fi
  COMPREPLY=()
  mapfile -t lines < <("$program" complete "${words[@]:1}" 2>/dev/null)

  local entry
  local -a fields
  for entry in "${lines[@]}"; do
    if [[ $entry != $'\t'* ]]; then
      COMPREPLY+=("${entry%%$'\t'*}")
      continue
    fi
    # Empty fields count, so tabs become what is no blank.
    IFS=$'\x1f' read -r -a fields <<<"${entry//$'\t'/$'\x1f'}"
    _morton_files "${fields[1]}" "${fields[2]-}" "$last" "${fields[@]:3}"
  done

  # Bash replaces only what is behind a colon or '=', where it divides words there.
  local dividers=${COMP_WORDBREAKS//[^=:]/} kept=
  [[ -z $dividers || $last != *[$dividers]* ]] || kept=${last%"${last##*[$dividers]}"}
  COMPREPLY=("${COMPREPLY[@]#"$kept"}")
  if ((${#COMPREPLY[@]} == 1)) && [[ ${COMPREPLY[0]} == *[=:/] ]]; then
    compopt -o nospace 2>/dev/null
  fi
}

# _morton_files files|folders BEFORE WORD ENDING...: adds the files that WORD may become.
_morton_files() {
  local kind=$1 before=$2 start=${3#"$2"} name ending
  shift 3
  while IFS= read -r name; do
    if [[ -d ${name/#\~/$HOME} ]]; then
      COMPREPLY+=("$before$name/")
      # A folder has more to choose from.
      compopt -o nospace 2>/dev/null
      continue
    fi
    [[ $kind == files ]] || continue
    (($# > 0)) || COMPREPLY+=("$before$name")
    for ending in "$@"; do
      [[ $name != *."$ending" ]] || COMPREPLY+=("$before$name")
    done
  done < <(compgen -f -- "$start")
  # Quotes blanks and the like.
  compopt -o filenames 2>/dev/null
}

complete -F _morton morton
