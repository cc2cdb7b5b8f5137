# SPDX-License-Identifier: BSD-2-Clause
# One name that is not there, and nothing is dropped.
tamis create seen -n 1000
tamis create queued -n 1000
refused tamis drop queued sene
refused tamis drop seen ''
refused tamis drop
tamis list -q
