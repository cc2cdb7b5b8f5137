# SPDX-License-Identifier: BSD-2-Clause
# --populate: the same answers, and nothing is written.
# Directory only: --populate is for files
tamis create seen -n 1000
tamis add seen apple pear
before=$(cksum "$TAMIS_STORE"/segments/*)
printf 'apple\nplum\npear\n' | tamis check --populate seen
[[ $(cksum "$TAMIS_STORE"/segments/*) == "$before" ]] && echo unchanged
