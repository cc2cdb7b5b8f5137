# SPDX-License-Identifier: BSD-2-Clause
# -z and --hex name the same keys as add does.
tamis create hits -n 1000 --kind counting
printf 'one\ntwo\0three\0' | tamis add -z hits
printf 'one\ntwo\0' | tamis remove -z hits
printf 'one\ntwo\0three\0' | tamis count -z hits | tr '\0' '|'
echo
tamis add hits --hex 00ff 00ff
tamis remove hits --hex 00FF
tamis count hits --hex 00ff
