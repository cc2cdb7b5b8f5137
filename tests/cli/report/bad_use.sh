# SPDX-License-Identifier: BSD-2-Clause
tamis create seen -n 100
refused tamis report seen
refused tamis report -o page.html
refused tamis report seen --all -o page.html
refused tamis report sen -o page.html
refused tamis report seen sen -o page.html
refused tamis report seen -o no/such/directory/page.html
refused tamis report seen -o .
refused tamis report seen -o ''
refused tamis --store nowhere report --all -o page.html
ls
