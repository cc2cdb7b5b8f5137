# SPDX-License-Identifier: BSD-2-Clause
refused tamis explain --hash-set php:js,pjw -m 1000 -k 3 a
refused tamis explain --hash-set php -m 1000 a
refused tamis explain --hash-set php:js a
refused tamis explain --hash-set php:js -m 0 a
refused tamis explain --hash-set php:js -m 1000 --seed 1 a
refused tamis explain --hash-set guava -m 1000 a
refused tamis explain --hash-set guava -m 1000 -k 1048577 a
refused tamis explain --hash-set php-mt -m 9223372036854775808 -k 1 a
tamis explain --hash-set php-mt -m 9223372036854775807 -k 2 a
