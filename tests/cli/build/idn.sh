# SPDX-License-Identifier: BSD-2-Clause
# A list of names in other scripts needs no note with the option idn, and the rate is that of a question for a name and its parents.
tamis create names -n 1000 --key-rule name:idn 2>/dev/null || skip "needs libidn2"
printf '0.0.0.0 %s\n' bücher.example a.example >hosts
tamis build list hosts --key-rule name:idn && tamis check list xn--bcher-kva.example && tamis info list fp_rate
