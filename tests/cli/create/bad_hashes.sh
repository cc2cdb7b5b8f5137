# SPDX-License-Identifier: BSD-2-Clause
for k in 0 65 -1 '' x 7.5 7k; do
    refused tamis create seen -m 1000 -k "$k"
done
refused tamis create seen -m 1000
refused tamis create seen -k 7
refused tamis create seen -m 1000 -k 7 --kind blocked
