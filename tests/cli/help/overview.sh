# SPDX-License-Identifier: BSD-2-Clause
tamis --help
tamis help | cmp - <(tamis --help) && echo same
tamis help add | cmp - <(tamis add --help) && echo same
