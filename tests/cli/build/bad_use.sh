# SPDX-License-Identifier: BSD-2-Clause
seq 100 >keys
mkdir dir
refused tamis build
refused tamis build list missing
refused tamis build list keys missing
refused tamis build list keys --except missing
refused tamis build list keys --against missing
refused tamis build list dir
refused tamis build list keys - -
refused tamis build list --except - </dev/null
refused tamis build list keys --comments=
refused tamis build list keys --keep 1001
refused tamis build list keys --keep many
refused tamis build list keys --threads 0
refused tamis build list keys -p 2
refused tamis build list keys --kind nonesuch
refused tamis build list keys -z --crlf
refused tamis build list keys --progress --no-progress
refused tamis build '' keys
refused tamis build $'a\nb' keys
refused tamis build list keys --window 3d
tamis create growing -n 1000
tamis create counting -n 1000 --kind counting
tamis create recent -n 1000 --window 1d
refused tamis build list keys --kind counting
refused tamis build list keys -p 1e-11
refused tamis build counting keys
refused tamis build recent keys
refused tamis build list keys --hex
refused tamis build list keys --memory 1000
echo +x | refused tamis build list --hex
printf '61\n# c\n6\n' | refused tamis build list --hex --comments
printf '61' >even
printf '6' >odd
refused tamis build list --hex even --except odd
tamis list -q
