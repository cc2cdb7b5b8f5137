# SPDX-License-Identifier: BSD-2-Clause
# Directory only: file permissions; a server's are in tests/redis/remote_cases.py
tamis create hits -n 1000 --kind counting
tamis add hits a
chmod -R a-w "$TAMIS_STORE"
as_user() { if [ "$(id -u)" -eq 0 ]; then setpriv --reuid 65534 --clear-groups "$@"; else "$@"; fi; }
chmod a+rx "$SCRATCH" "$SCRATCH/bin"
as_user "$(readlink -f "$SCRATCH/bin/tamis")" --store "$TAMIS_STORE" count hits a
expect 2 as_user "$(readlink -f "$SCRATCH/bin/tamis")" --store "$TAMIS_STORE" remove hits a
chmod -R u+w "$TAMIS_STORE"
