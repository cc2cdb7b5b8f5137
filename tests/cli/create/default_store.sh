# SPDX-License-Identifier: BSD-2-Clause
# $XDG_STATE_HOME/tamis, else ~/.local/state/tamis, made with their parents; --store before all.
unset TAMIS_STORE
tamis create one -n 1000
ls -d home/.local/state/tamis/catalog.mdb
XDG_STATE_HOME=$SCRATCH/xdg tamis create two -n 1000
ls -d xdg/tamis/catalog.mdb
XDG_STATE_HOME=relative tamis list -q
XDG_STATE_HOME=$SCRATCH/xdg TAMIS_STORE='' tamis list -q
XDG_STATE_HOME=$SCRATCH/xdg tamis --store home/.local/state/tamis list -q
TAMIS_STORE=$SCRATCH/xdg/tamis tamis list --store home/.local/state/tamis -q
HOME='' expect 2 tamis list
