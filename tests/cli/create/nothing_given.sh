# SPDX-License-Identifier: BSD-2-Clause
refused tamis create seen
refused tamis create
refused tamis create a b -n 1000
refused tamis create seen -p 0.01
refused tamis create seen -n 1000 --frobnicate
