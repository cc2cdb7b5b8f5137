# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
tamis calc --table
tamis calc --table --json | sed -n '4p'
