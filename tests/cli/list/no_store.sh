# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
refused tamis list
refused tamis list a b
