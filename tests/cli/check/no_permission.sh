# SPDX-License-Identifier: BSD-2-Clause
# A store that may not be read.
# Directory only: file permissions; a server's are in tests/redis/remote_cases.py
tamis create seen -n 1000
chmod a+x "$SCRATCH"
chmod -R go= "$TAMIS_STORE"
[ "$(id -u)" -eq 0 ] || chmod u= "$TAMIS_STORE"
expect 2 denied tamis check seen a
expect 2 denied tamis list
expect 2 denied tamis add seen a
expect 2 denied tamis create other -n 1000
chmod u=rwx "$TAMIS_STORE"
tamis list -q
