#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The links of the documents lead somewhere, in the source tree and where they are installed; docs/README.md has each page.
# (Seen to fail with a page that is in docs/ alone.)
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$here/../..
python3 "$here/links.py" "$top/README.md" "$top/docs" "$top/tools" "$TAMIS_PREFIX/share/doc"
for page in "$top"/docs/*.md; do
    name=${page##*/}
    [ "$name" = README.md ] || grep -qF "($name)" "$top/docs/README.md" || {
        echo "docs/README.md does not say for whom docs/$name is" >&2
        exit 1
    }
done
