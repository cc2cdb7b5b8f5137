#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# python.sh SCRIPT ARGUMENT...: run it with python3; status 77 where there is none.
command -v python3 >/dev/null || {
    echo "skipped: python3 is not installed" >&2
    exit 77
}
exec python3 -B "$@"
