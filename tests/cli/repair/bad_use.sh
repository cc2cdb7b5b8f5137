# SPDX-License-Identifier: BSD-2-Clause
refused tamis repair
mkdir empty
refused tamis --store empty repair
refused tamis repair list
refused tamis repair --force
echo text >file
refused tamis --store file repair
