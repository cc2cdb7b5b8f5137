# SPDX-License-Identifier: BSD-2-Clause
tamis create seen -n 1000
refused tamis info seen colour
refused tamis info seen items fill
refused tamis info
