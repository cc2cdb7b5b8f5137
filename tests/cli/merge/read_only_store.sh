# SPDX-License-Identifier: BSD-2-Clause
# Nothing can be merged there, but compared.
# Directory only: file permissions; a server's are in tests/redis/remote_cases.py
tamis create a -n 100 && tamis create b --like a
tamis add a x y
chmod -R a-w,a+rX "$TAMIS_STORE"
expect 2 denied tamis merge a b
denied tamis compare a b
chmod -R u+w "$TAMIS_STORE"
