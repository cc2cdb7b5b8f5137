# SPDX-License-Identifier: BSD-2-Clause
tamis create a -n 1000
tamis create b -n 1000
tamis add b x y
tamis sync b --json | no_times
tamis info a checkpointed_at
tamis info b checkpointed_at | no_times
tamis sync --json | no_times
