# SPDX-License-Identifier: BSD-2-Clause
# Directory only: a server's --like takes no -n, and doctor looks at files
# The command that the warning of a full filter prints is run as it stands, and so is doctor's, which is the same.
# It was `tamis create NAME -n CAPACITY`, which no shell and no tamis can run with a name that is there.
tamis create "it's seen" -n 100 -p 1e-4 --on-full warn
seq 300 | tamis add "it's seen" 2>warning
sed 's/.*add the keys there: //' warning >advised
cat advised
bash -e advised
tamis list LARGER --json | grep -oE '"(capacity|items|fp_rate|state)":[^,}]*'
tamis doctor "it's seen" 2>&1 | grep -cxF "    $(cat advised)"
seq 300 | tamis add LARGER
tamis doctor LARGER
# A name that looks like an option: the command was `--like -- '-odd'`, which create refuses.
tamis create -n 100 --on-full refuse -- -odd
seq 300 | expect 2 tamis add -- -odd 2>/dev/null
tamis drop -q LARGER
tamis doctor -- -odd 2>doctor.err | tail -1 >advised
cat advised
bash -e advised
# A window is full when its newest slice is: that has its share, and not all keys of a window, as was said.
for how in refuse warn; do
    tamis create $how -n 100 --window 1d --slices 4 --on-full $how
    seq 25 | tamis add $how
    expect 1 tamis doctor $how 2>/dev/null
done
