# SPDX-License-Identifier: BSD-2-Clause
for m in 0 -1 '' x 64MiB 1.5 18446744073709551616; do
    refused tamis create seen -m "$m" -k 7
done
refused tamis create seen -m 18446744073709551615 -k 7
