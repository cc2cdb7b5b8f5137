# SPDX-License-Identifier: BSD-2-Clause
tamis create plain -n 1000
tamis create hits -n 1000 --kind counting
refused tamis remove
refused tamis remove plain a
refused tamis remove hist a
refused tamis remove hits --hex abc
refused tamis remove hits --new a
refused tamis remove hits --progress --no-progress a
refused tamis --store "$PWD/none" remove hits a
echo a | refused tamis remove plain
