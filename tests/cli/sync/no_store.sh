# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
refused tamis sync
