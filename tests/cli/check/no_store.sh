# SPDX-License-Identifier: BSD-2-Clause
# Directory only: a server is always a store
refused tamis check seen a
mkdir "$TAMIS_STORE"
refused tamis check seen a
