# SPDX-License-Identifier: BSD-2-Clause
mkdir closed
chmod 555 closed
export TAMIS_STORE=$SCRATCH/closed/store
refused denied tamis create seen -n 1000
