# SPDX-License-Identifier: BSD-2-Clause
refused tamis create seen -n 1000 --kind cuckoo
refused tamis create seen -n 1000 --hash-set md6
refused tamis create seen -n 1000 --seed -1
refused tamis create seen -n 1000 --seed 0x
refused tamis create seen -n 1000 --seed 18446744073709551616
