# SPDX-License-Identifier: BSD-2-Clause
tamis create seen -n 1000
refused tamis create seen -n 1001 --if-missing
refused tamis create seen -n 1000 -p 1e-3 --if-missing
refused tamis create seen -n 1000 --kind bloom --if-missing
refused tamis create seen -n 1000 --seed 1 --if-missing
tamis create recent -n 1000 --window 1h --window-from first
refused tamis create recent -n 1000 --window 1h --if-missing
