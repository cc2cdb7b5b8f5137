# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
refused tamis check seen a
mkdir "$TAMIS_STORE"
refused tamis check seen a
