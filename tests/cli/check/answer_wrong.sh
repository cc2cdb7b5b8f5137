# SPDX-License-Identifier: BSD-2-Clause
# Each is told apart.
tamis create seen -n 1000
expect 2 tamis check seen --answer OK
expect 2 tamis check seen --answer OK,ERR,MAYBE,MORE
expect 2 tamis check seen --answer "OK,
ERR"
expect 2 tamis check seen --answer
for other in -v -c -q --json; do
    expect 2 tamis check seen --answer OK,ERR $other apple
done
expect 2 tamis check seen --channel apple
expect 2 tamis check seen --first-word apple
expect 2 tamis check seen --answer OK,ERR --channel --hex 00
expect 2 tamis add seen --answer OK,ERR apple
