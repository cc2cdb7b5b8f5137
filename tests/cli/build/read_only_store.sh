# SPDX-License-Identifier: BSD-2-Clause
seq 100 >keys
tamis build list keys
chmod -R a-w "$TAMIS_STORE"
expect 2 denied tamis build list keys
expect 2 denied tamis rollback list
expect 2 denied tamis except list add 5
denied tamis check -c list <keys
denied tamis generations list | cut -c -28
denied tamis except list list
chmod -R u+w "$TAMIS_STORE"
