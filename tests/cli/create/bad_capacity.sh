# SPDX-License-Identifier: BSD-2-Clause
# Refused before a store is made.
for n in 0 -5 '' ten 10x 1.5 1e 0x10 ' 10' 10.k 99999999999999999999 18446744073709551616 20000000T; do
    refused tamis create seen -n "$n"
done
refused tamis create seen -n
