# SPDX-License-Identifier: BSD-2-Clause
tamis create plain -n 1000
tamis create hits -n 1000 --kind counting
refused tamis count
refused tamis count plain a
refused tamis count hist a
refused tamis count hits --hex abc
refused tamis count hits --seen a
refused tamis --store "$PWD/none" count hits a
