# SPDX-License-Identifier: BSD-2-Clause
# Directory only: file permissions; a server's are in tests/redis/remote_cases.py
tamis create seen -n 100
tamis add seen a b
chmod -R a-w "$TAMIS_STORE"
mkdir -m 777 out
chmod 755 "$SCRATCH"
denied tamis export seen --to tamis out/file
tamis --store other import copy --from tamis out/file
tamis --store other check copy a b c
