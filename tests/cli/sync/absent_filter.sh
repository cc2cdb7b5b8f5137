# SPDX-License-Identifier: BSD-2-Clause
tamis create a -n 1000
echo key | tamis add a
expect 2 tamis sync absent
expect 2 tamis sync absent a
tamis info a checkpointed_at | no_times
