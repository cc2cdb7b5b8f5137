# SPDX-License-Identifier: BSD-2-Clause
# Directory only: reads the headers of files
# What was new is told, look by look; the sum over the looks is what was added.
tamis create seen -n 100k
tamis create other -n 10
tamis top --once --json --interval 50ms | no_times | sed -E 's/"seconds":[0-9.e-]+/"seconds":S/'
# It is stopped when it has told of all keys.  A job that is begun by & ignores SIGINT, so this is SIGTERM.
tamis top --json --interval 100ms seen >looks &
top=$!
until [ -s looks ]; do sleep 0.05; done
seq 6000 | tamis add seen
items=$(tamis info seen items)
until tail -n 1 looks | grep -q "\"items\":$items,"; do sleep 0.05; done
kill "$top"
wait "$top"
echo "exit $?"
[ "$(sed -E 's/.*"seconds":([0-9.e-]+).*"new_per_second":([0-9.e+-]+).*/\1 \2/' looks |
    awk '{ sum += $1 * $2 } END { printf "%.0f", sum }')" = "$items" ] && echo "the sum is what was added"
grep -c '"full_in_seconds":[0-9]' looks | awk '{ print ($1 > 0 ? "it says when it will be full" : "it does not") }'
