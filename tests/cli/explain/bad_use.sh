# SPDX-License-Identifier: BSD-2-Clause
tamis create seen -n 1000
refused tamis explain
refused tamis explain absent a
refused tamis explain seen -m 1000 a
refused tamis explain seen --seed 1 a
refused tamis explain --hash-set xxh3 a
refused tamis explain --hash-set xxh3 -m 1000 a
refused tamis explain --hash-set xxh3 -m 1000 -k 0 a
refused tamis explain --hash-set xxh3 -m 0 -k 1 a
refused tamis explain --hash-set md6 -m 1000 -k 1 a
refused tamis explain --hash-set xxh3 -m 18446744073709551616 -k 1 a
refused tamis explain --hex seen abc
