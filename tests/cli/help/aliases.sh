# SPDX-License-Identifier: BSD-2-Clause
# The names that other programs have for a command.
tamis create seen -n 1000
tamis mv seen old
tamis ls | cmp - <(tamis list) && tamis ls -q
tamis ls --help | cmp - <(tamis help list) && echo "help is that of list"
tamis drop -q old
expect 1 tamis ls
refused tamis mv a
