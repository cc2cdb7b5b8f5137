# SPDX-License-Identifier: BSD-2-Clause
# A store without filters matches nothing.
tamis create seen -n 1000 && tamis drop -q seen && echo dropped
tamis list
