#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The links of the documents lead somewhere, in the source tree and where they are installed.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$here/../..
python3 "$here/links.py" "$top/README.md" "$top/docs" "$top/tools" "$TAMIS_PREFIX/share/doc"
