# SPDX-License-Identifier: BSD-2-Clause
for p in 0 1 0.0 1.0 2 -0.1 nan NaN inf -inf 100% 0% '' x 1e-6x 0x1p-4 ' 0.1' 1e-400 .; do
    refused tamis create seen -n 1000 -p "$p"
done
refused tamis create seen -n 1000 -p 1e-13
refused tamis create seen -n 1000 -p
