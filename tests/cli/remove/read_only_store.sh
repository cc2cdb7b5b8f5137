# SPDX-License-Identifier: BSD-2-Clause
# Directory only: file permissions; a server's are in tests/redis/remote_cases.py
tamis create hits -n 1000 --kind counting
tamis add hits a
chmod -R a-w "$TAMIS_STORE"
chmod a+rx "$SCRATCH"
denied tamis count hits a
expect 2 denied tamis remove hits a
chmod -R u+w "$TAMIS_STORE"
