# SPDX-License-Identifier: BSD-2-Clause
# Many batches and buffers: nothing is lost, doubled or cut at their borders.
tamis create seen -n 400k -p 1e-9
seq 1 300000 >input
tamis add --new seen <input >new
cmp new input && echo same
tamis add --new seen <input
tamis add --seen seen <input >others
cmp others input && echo same
seq 1 300000 | tamis check seen >present
cmp present input && echo same
tamis info seen items
