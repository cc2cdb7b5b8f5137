# SPDX-License-Identifier: BSD-2-Clause
# Durable: told by info, copied by --like, compared by --if-missing; a log while it is added to, none after.
tamis create seen -n 1000 --durable
tamis info seen durable
seq 1 100 | tamis add --new seen | wc -l
seq 1 100 | tamis add --new seen | wc -l
on_directory find "$TAMIS_STORE/logs" -type f | wc -l
tamis create other --like seen
tamis info other durable
tamis create seen -n 1000 --durable --if-missing && echo the same
tamis create seen -n 1000 --if-missing
echo "exit $?"
tamis create hits -n 1000 --kind counting --durable
echo "exit $?"
tamis create plain -n 1000
tamis info plain durable
sound
