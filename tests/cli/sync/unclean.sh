# SPDX-License-Identifier: BSD-2-Clause
# The machine goes down under a filter: another boot id, in a mount namespace, with the dirty mark of this one.
# Seen to fail with tamis__mark_is_stale() false always: every state was ok.
printf '01234567-89ab-cdef-0123-456789abcdef\n' >boot
next_boot() {
    # shellcheck disable=SC2016 # for the inner shell
    unshare -m bash -c 'mount --bind boot /proc/sys/kernel/random/boot_id && "$@"' bash "$@"
}
next_boot true 2>refused || exit 77

tamis create seen -n 1000
tamis create other -n 1000
seq 1 10 | tamis add --no-sync seen
seq 1 10 | tamis add other
tamis list | no_times
next_boot tamis list | no_times
next_boot tamis info seen --all | grep -E '^(state|unclean_since|degraded_since|note)' | no_times
next_boot tamis check seen 5 2>&1 | no_times
next_boot tamis verify 2>&1 | no_times
echo - a writer comes
next_boot tamis add seen 11 2>&1 | no_times
next_boot tamis sync
next_boot tamis list | no_times
echo - accepted
next_boot tamis sync --accept seen
next_boot tamis info seen state
next_boot tamis info seen unclean_since
next_boot tamis add seen 12
