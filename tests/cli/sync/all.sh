# SPDX-License-Identifier: BSD-2-Clause
tamis create a -n 1000
tamis create b -n 1000
tamis info a checkpointed_at
tamis sync
tamis info a checkpointed_at | no_times
tamis info b checkpointed_at | no_times
