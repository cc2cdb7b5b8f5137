# SPDX-License-Identifier: BSD-2-Clause
tamis create seen -n 10k -p 1e-4 --json | no_times
