# SPDX-License-Identifier: BSD-2-Clause
# -h is short, --help long: the usage, and each option of --help with a few words.
options() { sed -nE 's/^ {2}(-[a-zA-Z], |    )(--[a-z-]+).*/\1\2/p' "$1"; }
mapfile -t commands < <(tamis help | sed -n 's/^  \([a-z][a-z]*\) .*/\1/p')
for command in "${commands[@]}"; do
    tamis "$command" --help >long || echo "$command: exit $?"
    tamis "$command" -h >brief || echo "$command: exit $?"
    cmp <(sed '/^$/q' long) <(sed '/^$/q' brief)
    cmp <(options long) <(options brief) || echo "$command: other options"
    [ "$(wc -l <brief)" -lt "$(wc -l <long)" ] || echo "$command: -h is not shorter"
    grep -q "'tamis $command --help' tells all" brief || echo "$command: does not say where the rest is"
done
tamis drop -h
tamis -h | cmp - <(tamis 2>/dev/null) && echo same
[ "$(tamis -h | wc -l)" -lt "$(tamis --help | wc -l)" ] || echo "tamis -h is not shorter"
