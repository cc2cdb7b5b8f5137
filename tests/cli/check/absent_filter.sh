# SPDX-License-Identifier: BSD-2-Clause
# No such filter is 2, never 1.
tamis create seen -n 1000
refused tamis check seeen a
refused tamis check '' a
