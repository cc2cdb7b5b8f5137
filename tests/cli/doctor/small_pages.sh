# SPDX-License-Identifier: BSD-2-Clause
# Filters that are set to have huge pages and lack them: the reason and the mend. Nothing is said of small filters, and of
# those where nobody has asked for them.
# Directory only: reads files of the store
command -v python3 >/dev/null || skip "needs python3"
# without_huge COMMAND...: run it as if the system gave this process none.
without_huge() {
    python3 -c 'import ctypes, os, sys
if ctypes.CDLL(None).prctl(41, 1, 0, 0, 0) != 0: sys.exit(77) # PR_SET_THP_DISABLE
os.execvp(sys.argv[1], sys.argv[1:])' "$@"
}
for sort in auto small huge; do tamis create "$sort" -n 16M --pages "$sort"; done
tamis create little -n 1000 --pages huge
for name in auto small huge little; do seq 1000 | tamis add "$name"; done
tamis verify # has all of it in memory
without_huge true || skip "needs PR_SET_THP_DISABLE"
expect 1 without_huge tamis doctor >said
no_sizes said
expect 1 without_huge tamis doctor --json >said
no_sizes said
expect 0 without_huge tamis doctor auto small little
without_huge tamis info huge huge_note
tamis pages huge small
expect 0 without_huge tamis doctor
