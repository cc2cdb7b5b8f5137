# SPDX-License-Identifier: BSD-2-Clause
# A word for each key, whichever the answer is.
tamis create seen -n 1000
tamis add seen apple 'two words' ''
printf 'apple\nplum\n\ntwo words\n' | tamis check seen --answer OK,ERR
echo 'words of any form'
tamis check seen --answer '200 REJECT listed,' apple plum
printf 'apple\0plum\0' | tamis check -z seen --answer yes,no | od -An -c
tamis check seen --hex --answer yes,no 6170706c65 70
echo 'channels and first words'
printf '0 apple\n17 two words\n3\n4 \n5 plum -\n6 apple -\n' | tamis check seen --answer OK,ERR --channel
echo
printf '0 apple -\n1 plum -\n2 apple\n3\n4  \n' | tamis check seen --answer OK,ERR --channel --first-word
echo
printf 'apple -\nplum apple\ntwo words\n' | tamis check seen --answer OK,ERR --first-word
echo 'nothing matched'
expect 1 tamis check seen --answer OK,ERR plum
expect 1 tamis check seen --answer OK,ERR </dev/null
