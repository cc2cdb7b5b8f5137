# SPDX-License-Identifier: BSD-2-Clause
tamis create seen -n 1000 -p 1e-3 --if-missing
tamis add seen a
tamis create seen -n 1000 -p 1e-3 --if-missing
tamis info seen items
