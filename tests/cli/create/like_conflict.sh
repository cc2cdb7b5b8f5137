# SPDX-License-Identifier: BSD-2-Clause
tamis create a -n 5000
refused tamis create b --like a -k 3 -m 1000
refused tamis create b --like a --kind bloom
refused tamis create b --like absent
