# SPDX-License-Identifier: BSD-2-Clause
tamis calc --table
tamis calc --table --json | sed -n '4p'
