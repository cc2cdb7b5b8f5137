# SPDX-License-Identifier: BSD-2-Clause
# A key that is not there is told; nothing is changed for it, and the others are taken off.
tamis create hits -n 1000 --kind counting
tamis add hits a b b
expect 2 tamis remove hits a zip b zap a
expect 2 tamis remove hits --hex 00ff 62
printf 'line\nbreak\0tab\t\0' | expect 2 tamis remove -z hits
long=$(printf '%0300d' 0)
expect 2 tamis remove hits "$long"
tamis count hits a b zip
refused tamis remove hits a
