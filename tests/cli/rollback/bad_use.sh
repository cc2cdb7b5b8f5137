# SPDX-License-Identifier: BSD-2-Clause
refused tamis rollback
refused tamis rollback list
echo a | tamis build list
refused tamis rollback
refused tamis rollback lits
refused tamis rollback list
refused tamis rollback list 7
refused tamis rollback list 1
refused tamis rollback list 0
refused tamis rollback list -- -1
refused tamis rollback list one
refused tamis rollback list 1 2
tamis generations list | wc -l
