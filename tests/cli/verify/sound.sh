# SPDX-License-Identifier: BSD-2-Clause
tamis create a -n 1000
tamis create b -n 100k --kind bloom
tamis add a key
tamis verify
tamis verify b
tamis verify --json
