# SPDX-License-Identifier: BSD-2-Clause
# Wrong arguments change nothing; on a server the command says where it is run.
# Directory only: a server's filters are mapped by the server
tamis create f -n 1000 --pages small
refused tamis pages
refused tamis pages f small huge
refused tamis pages f large
refused tamis pages f ''
refused tamis pages f HUGE
refused tamis pages none
refused tamis pages none huge
refused tamis pages f --pages huge
refused tamis create g -n 1000 --pages large
refused tamis create g -n 1000 --pages
refused tamis create g --like f --pages huge
refused denied tamis pages f huge
TAMIS_STORE=$SCRATCH/absent refused tamis pages f huge
! tamis list --store redis://127.0.0.1:1 2>&1 | grep -q hiredis || skip "needs hiredis"
for arguments in f 'f huge' 'f --json'; do
    # shellcheck disable=SC2086 # words
    expect 2 tamis pages --store redis://127.0.0.1:1 $arguments
done
