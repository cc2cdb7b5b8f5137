# SPDX-License-Identifier: BSD-2-Clause
# Looking needs no write permission anywhere.
# Directory only: file permissions; a server's are in tests/redis/remote_cases.py
tamis create seen -n 1000
tamis add seen a
chmod -R a-w,a+rX "$TAMIS_STORE"
chmod a+x "$SCRATCH"
before=$(snapshot)
denied tamis check seen a b
denied tamis list -q
denied tamis info seen items
denied tamis info seen >/dev/null
denied tamis explain seen a
denied tamis verify
[ "$before" = "$(snapshot)" ] && echo unchanged
