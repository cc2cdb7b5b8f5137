# SPDX-License-Identifier: BSD-2-Clause
# Directory only: a server is always a store
refused tamis list
refused tamis list a b
