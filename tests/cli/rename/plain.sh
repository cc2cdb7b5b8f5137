# SPDX-License-Identifier: BSD-2-Clause
tamis create a -n 1000
tamis add a key
tamis rename a b
tamis list -q
tamis check b key
tamis info b name
