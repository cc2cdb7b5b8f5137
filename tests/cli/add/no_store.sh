# SPDX-License-Identifier: BSD-2-Clause
# Only create makes a store.
# Directory only: a server is always a store
refused tamis add seen a
