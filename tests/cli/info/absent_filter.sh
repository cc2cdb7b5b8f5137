# SPDX-License-Identifier: BSD-2-Clause
tamis create seen -n 1000
refused tamis info see
