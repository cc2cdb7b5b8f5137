# SPDX-License-Identifier: BSD-2-Clause
need_root
tamis create seen -n 1000
tamis add seen a
mkdir read-only
mount --bind "$TAMIS_STORE" read-only || skip "mount is not allowed"
mount -o remount,bind,ro read-only || skip "mount is not allowed"
export TAMIS_STORE=$SCRATCH/read-only
tamis check seen a b
tamis list -q
tamis info seen items
tamis explain seen a
tamis verify
refused tamis add seen b
refused tamis create other -n 1000
refused tamis drop -q seen
