# SPDX-License-Identifier: BSD-2-Clause
tamis create pages -n 1000 --seed 1 --key-rule url:sort
tamis create hosts -n 1000 --seed 1 --key-rule name
tamis explain pages 'HTTP://A/../?b&a#c' 'no URL' | cut -f1,4
tamis explain hosts A.Example. | cut -f1,4
tamis explain --json pages 'HTTP://A' | grep -o '"form":"[^"]*"'
