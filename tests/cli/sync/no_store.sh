# SPDX-License-Identifier: BSD-2-Clause
refused tamis sync
