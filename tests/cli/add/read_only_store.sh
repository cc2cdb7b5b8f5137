# SPDX-License-Identifier: BSD-2-Clause
# Directory only: file permissions; a server's are in tests/redis/remote_cases.py
tamis create seen -n 1000
chmod -R a-w,a+rX "$TAMIS_STORE"
chmod a+x "$SCRATCH"
expect 1 denied tamis check -q seen a
refused denied tamis add seen a
refused denied tamis sync
refused denied tamis drop -q seen
refused denied tamis rename seen other
refused denied tamis create other -n 1000
