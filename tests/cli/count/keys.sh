# SPDX-License-Identifier: BSD-2-Clause
tamis create hits -n 1000 --kind counting
yes often | head -n 70000 | tamis add hits
tamis add hits once twice twice ''
tamis count hits often once twice never ''
printf 'twice\n\nnever' | tamis count hits
tamis count hits --json twice never
tamis count hits --hex 6f6e6365
tamis count hits --json --hex 6f6e6365
