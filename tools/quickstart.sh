#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# quickstart.sh: from a fresh Debian machine to the main job, on real input, with every answer
# checked against sort -u.
#
# Four processes are given overlapping, shuffled slices of some 200,000 real URLs, domains and file
# paths, and run `tamis add --new` on one filter at the same time.  One is killed (kill -9) in the
# middle of its work and started again.  Of all answers then printed:
#
#   - no line may occur twice (that is the promise of `--new`);
#   - a line that occurs nowhere is a false positive, or was on its way out of the killed process.
#     The filter's item count is the number of NEW answers given, so it tells the two apart:
#         distinct lines - items = never told new: false positives (a run by one process alone
#                                  shows how many to expect)
#         items - printed lines  = told new, but the process died before it had printed them;
#   - every line must be in the filter at the end.
#
# Each process prints into a pipe that is read slowly, as a crawler's fetcher would.  So the four
# really run side by side, and the killed one has answers under way when it dies.
set -euo pipefail
export LC_ALL=C # sort, comm and tamis order and compare bytes

readonly rate=0.001 # false-positive rate asked for: 0.1 %
readonly longest_silence=20 # seconds, while it compiles
readonly extension=webext-ublock-origin-firefox
readonly packages=(
    gcc libc6-dev make cmake pkg-config liblmdb-dev libxxhash-dev libjansson-dev
    # Import and export live, hash sets md5 and sip, names in other scripts, packed lists; it builds without them too.
    libhiredis-dev libmd-dev libsodium-dev libidn2-dev zlib1g-dev libzstd-dev libcurl4-openssl-dev libncurses-dev
)

usage()
{
    cat <<'USAGE'
usage: tools/quickstart.sh [--keep]

Installs what the build needs (Debian packages, by apt), builds Tamis under .build/quickstart, runs
four processes on one filter over real input and compares their answers with sort -u.

  --keep   do not remove the scratch directory (input, outputs, store) at the end
  --help   this text

Exit status: 0 every promise held; 1 one was broken; 2 it could not run.
USAGE
}

keep=
for argument in "$@"; do
    case $argument in
    --keep) keep=yes ;;
    -h | --help)
        usage
        exit 0
        ;;
    *)
        echo "quickstart.sh: unknown argument '$argument'; see tools/quickstart.sh --help" >&2
        exit 2
        ;;
    esac
done

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly top build=$top/.build/quickstart
scratch=$(mktemp -d)
readonly scratch log=$scratch/log
finished=
step_began=

finish()
{
    local status=$?
    trap - EXIT
    # set -e ends the script at the first command that fails, which has said why.
    if [ -z "$finished" ] && [ "$status" -ne 0 ]; then
        echo "quickstart.sh: stopped by what is said above" >&2
        status=2
    fi
    # Only this script's own children, and only where it ends early.
    # shellcheck disable=SC2046
    [ -z "$(jobs -p)" ] || kill $(jobs -p) 2>/dev/null || true
    if [ -n "$keep" ]; then
        echo "Kept: $scratch"
    else
        rm -rf "$scratch"
    fi
    exit "$status"
}
trap finish EXIT
trap 'exit 2' INT TERM

# step TEXT: what begins now; before that, the seconds that the last step took.
step()
{
    step_done
    step_began=$SECONDS
    printf '==> %s\n' "$*"
}

step_done()
{
    [ -z "$step_began" ] || printf '    %d s\n' $((SECONDS - step_began))
    step_began=
}

die()
{
    echo "quickstart.sh: $*" >&2
    finished=yes
    exit 2
}

# quietly COMMAND...: its output is shown only where it fails.
quietly()
{
    "$@" >"$log" 2>&1 </dev/null || {
        tail -n 30 "$log" >&2
        die "this failed: $*"
    }
}

# ---- Packages and build -------------------------------------------------------------------------

install_packages()
{
    step "Packages: a C compiler, cmake and libraries; apt downloads and installs those that are missing"
    "$top/tools/need-packages.sh" "${packages[@]}"
}

build_tamis()
{
    step "Build: compiles the library and the command under .build/quickstart, $(nproc) files at a time;" \
        "with two processors that takes a minute or two"
    quietly cmake -S "$top" -B "$build" -G 'Unix Makefiles' -DCMAKE_BUILD_TYPE=Release -DTAMIS_BUILD_TESTS=OFF -DTAMIS_BUILD_REDIS=OFF \
        -DTAMIS_BUILD_PYTHON=OFF -DTAMIS_BUILD_PHP=OFF
    compile
    tamis=$build/bin/tamis
    [ -x "$tamis" ] || die "the build made no $tamis"
    echo "    $("$tamis" --version)"
}

# Compiles, and shows how far that is, from what make tells: "[ 42%] Building ...".
compile()
{
    cmake --build "$build" --target tamis_cli -j "$(nproc)" 2>&1 </dev/null | tee "$log" | show_progress || {
        tail -n 30 "$log" >&2
        die "this failed: cmake --build $build"
    }
}

# On a terminal one line changes.  Elsewhere there is a line for each 10 % and after each $longest_silence
# seconds, also while make says nothing.
show_progress()
{
    local line percent=0 told_percent=0 told_at=$SECONDS status
    while :; do
        status=0
        IFS= read -r -t 1 line || status=$?
        [ "$status" -eq 0 ] || [ "$status" -gt 128 ] || break # over 128: no line within the second
        if [ "$status" -eq 0 ] && [[ $line =~ ^\[\ *([0-9]+)%\] ]]; then percent=${BASH_REMATCH[1]}; fi
        if [ -t 1 ]; then
            printf '\r    %3d %%' "$percent"
        elif [ $((percent - told_percent)) -ge 10 ] || [ $((SECONDS - told_at)) -ge "$longest_silence" ]; then
            printf '    %3d %% after %d s\n' "$percent" $((SECONDS - step_began))
            told_percent=$percent told_at=$SECONDS
        fi
    done
    [ ! -t 1 ] || printf '\r         \r'
}

# ---- Input --------------------------------------------------------------------------------------

index_files()
{
    apt-get indextargets --format '$(FILENAME)' 'Created-By: Packages'
}

# download PACKAGE: its .deb into this directory, without installing it.
download()
{
    local options=()
    [ "$(id -u)" -ne 0 ] || options=(-o APT::Sandbox::User=root) # $scratch is closed to others
    apt-get "${options[@]}" download "$1"
}

unpack_extension()
{
    cd "$scratch"
    # An index that is out of date names a version that the mirror no longer has.
    download "$extension" >"$log" 2>&1 || {
        "$top/tools/need-packages.sh" --update
        quietly download "$extension"
    }
    quietly dpkg-deb -x "$extension"_*.deb "$scratch/extension"
    cd "$top"
}

# Domains and URLs of the extension's lists: urlhaus-filter has one a line, the others write
# ||example.com/path^$options.
lines_of_extension()
{
    find "$scratch/extension" -path '*/assets/*' -name '*.txt' -print0 | sort -z | xargs -0 awk '
        /^\|\|/ {
            line = substr($0, 3)
            sub(/[\^$*].*/, "", line)
            if (line ~ /^[^ ]+\.[^ ]+$/) print line
            next
        }
        FILENAME ~ /urlhaus/ && /^[^! ]+$/ { print }'
}

# Home pages and file paths of all packages that apt knows of.
lines_of_apt()
{
    local file
    index_files | while IFS= read -r file; do
        /usr/lib/apt/apt-helper cat-file "$file"
    done | awk '/^(Homepage|Filename): / { print $2 }'
}

gather_input()
{
    step "Input: the lists in Debian's $extension, and apt's package index"
    [ -n "$(index_files)" ] || "$top/tools/need-packages.sh" --update
    [ -n "$(index_files)" ] || die "apt has no package index; run apt-get update and see what it says"
    unpack_extension
    lines_of_extension >"$scratch/extension.lines"
    lines_of_apt >"$scratch/apt.lines"
    cat "$scratch"/*.lines >"$scratch/all"
    sort -u "$scratch/all" >"$scratch/distinct"
    lines=$(count "$scratch/all")
    distinct=$(count "$scratch/distinct")
    echo "    $lines lines, $distinct of them distinct, such as"
    shuf -n 3 "$scratch/distinct" | cut -c 1-90 | sed 's/^/        /'
    [ "$distinct" -ge 100000 ] ||
        die "only $distinct distinct lines were found, too few for the run to mean much"
}

count()
{
    cat "$@" | wc -l
}

# ---- The run ------------------------------------------------------------------------------------

# Every line goes to three of the four processes, each of which gets its own order.
cut_slices()
{
    local worker
    for worker in 1 2 3 4; do
        awk -v skip="$((worker - 1))" 'NR % 4 != skip' "$scratch/all" | shuf >"$scratch/slice.$worker"
    done
}

# read_slowly FILE: append what comes in to FILE, 8 KiB at a time with a rest after each.  By bytes,
# not lines: a line that the kill cut short must stay seen as such.
read_slowly()
{
    while head -c 8192 >"$1.chunk" && [ -s "$1.chunk" ]; do
        cat "$1.chunk" >>"$1"
        sleep 0.01
    done
}

# start_worker SLICE OUTPUT: sets `pid` to the tamis process, and `reader` to its output's reader.
start_worker()
{
    mkfifo "$2.pipe"
    : >"$2"
    read_slowly "$2" <"$2.pipe" &
    reader=$!
    "$tamis" --store "$store" add --new seen <"$1" >"$2.pipe" 2>"$2.err" &
    pid=$!
}

# wait_for_worker PID READER OUTPUT: it must end well.
wait_for_worker()
{
    local status=0
    wait "$1" || status=$?
    if [ "$status" -ne 0 ]; then
        cat "$3.err" >&2
        die "a tamis process ended with status $status"
    fi
    wait "$2"
}

# kill_in_the_middle PID READER OUTPUT: once some thousand of its answers have been read, and while
# it sleeps because the pipe takes no more of them.  That it died of the signal is what shows that
# it was still at work.
kill_in_the_middle()
{
    local status=0
    until [ "$(count "$3")" -ge 5000 ] && [[ $(cat "/proc/$1/stat") == *') S '* ]]; do
        jobs -rp | grep -qx "$1" || die "process $1 was done before it could be killed"
        sleep 0.01
    done
    {
        kill -9 "$1"
        wait "$1" || status=$?
    } 2>/dev/null # the shell's own "Killed"
    [ "$status" -eq 137 ] || die "process $1 was not killed, it ended with status $status"
    wait "$2" # what it had printed is still in the pipe and counts
    cut=0
    if [ -n "$(tail -c 1 "$3")" ]; then # a pipe took only a part of the last line
        sed -i '$d' "$3"
        cut=1
    fi
}

run_four()
{
    local pids=() readers=() worker
    step "Run: four processes add to one filter; number 2 is killed and started again"
    store=$scratch/store
    capacity=$(((distinct / 10000 + 1) * 10000))
    "$tamis" --store "$store" create seen -n "$capacity" -p "$rate"
    cut_slices
    echo "    $(count "$scratch"/slice.[1-4]) lines in four shuffled slices; each line is in three of them"
    for worker in 1 2 3 4; do
        start_worker "$scratch/slice.$worker" "$scratch/new.$worker"
        pids[worker]=$pid readers[worker]=$reader
    done
    kill_in_the_middle "${pids[2]}" "${readers[2]}" "$scratch/new.2"
    echo "    process 2 (pid ${pids[2]}) killed after $(count "$scratch/new.2") answers;" \
        "starting it again with all of its slice"
    start_worker "$scratch/slice.2" "$scratch/new.2-again"
    pids[2]=$pid readers[2]=$reader
    wait_for_worker "${pids[2]}" "${readers[2]}" "$scratch/new.2-again"
    for worker in 1 3 4; do
        wait_for_worker "${pids[worker]}" "${readers[worker]}" "$scratch/new.$worker"
    done
}

# timed FILE COMMAND...: its output to FILE; `seconds` receives the time it took.
timed()
{
    local output=$1 start end
    shift
    start=$(date +%s%N)
    "$@" >"$output"
    end=$(date +%s%N)
    seconds=$(awk -v ns="$((end - start))" 'BEGIN { printf "%.2f", ns / 1e9 }')
}

# One process alone, same geometry: the false positives to expect, and the speed of `add --new`
# where nothing holds its output up.
run_one()
{
    step "For comparison: one process alone, and sort -u"
    "$tamis" --store "$store" create alone -n "$capacity" -p "$rate"
    timed "$scratch/new.alone" "$tamis" --store "$store" add --new alone <"$scratch/all"
    alone_seconds=$seconds
    alone_false=$((distinct - $(count "$scratch/new.alone")))
    timed "$scratch/sorted" sort -u <"$scratch/all"
    sort_seconds=$seconds
    echo "    $alone_seconds s and $sort_seconds s for $lines lines"
}

# ---- Checking -----------------------------------------------------------------------------------

# count_present: how many lines of standard input the filter has.  Status 1 is the answer "none".
count_present()
{
    "$tamis" --store "$store" check -c seen || [ $? -eq 1 ]
}

look_inside()
{
    step "Look inside: tamis list, tamis info seen, tamis verify"
    "$tamis" --store "$store" list
    echo
    "$tamis" --store "$store" info seen
    echo
    "$tamis" --store "$store" verify
}

check_answers()
{
    step "Check: the answers against sort -u, and the filter against every line"
    sort "$scratch"/new.[1-4] "$scratch/new.2-again" >"$scratch/printed"
    printed=$(count "$scratch/printed")
    twice=$(uniq -d "$scratch/printed" | wc -l)
    strange=$(comm -23 <(uniq "$scratch/printed") "$scratch/distinct" | wc -l)
    items=$("$tamis" --store "$store" info seen items)
    unprinted=$((items - printed))
    never_new=$((distinct - items))
    # Answers that died with process 2 are in its slice, so lines outside it can only be false
    # positives; this does not rest on the item count.
    outside=$(comm -23 "$scratch/distinct" "$scratch/printed" |
        comm -23 - <(sort -u "$scratch/slice.2") | wc -l)
    present=$(count_present <"$scratch/distinct")
    # A prefix that no real line has makes as many lines that are surely not in the set.
    sed 's/^/not in the set: /' "$scratch/distinct" >"$scratch/absent"
    wrong=$(count_present <"$scratch/absent")
    # Both counts vary by chance: five standard deviations happen once in millions of runs.  The
    # two runs' false positives differ by twice the variance of one.
    most_false=$(awk -v n="$alone_false" 'BEGIN { print int(n + 5 * sqrt(2 * (n + 1)) + 1) }')
    most_wrong=$(awk -v n="$distinct" -v p="$rate" 'BEGIN { print int(n * p + 5 * sqrt(n * p) + 1) }')
}

row()
{
    printf '%10s  %s\n' "$1" "$2"
}

show_table()
{
    local wrong_rate size
    wrong_rate=$(percent "$(awk -v a="$wrong" -v n="$distinct" 'BEGIN { print a / n }')")
    size=$("$tamis" --store "$store" info seen size_bytes)
    echo
    row "$distinct" "distinct lines were added, by sort -u's count.  Of these"
    row "$printed" "    were printed as new, by one process each;"
    row "$unprinted" "    were told new to process 2, which was killed before it had printed them;"
    row "$never_new" "    were never told new: false positives ($alone_false in the run by one process)."
    row "$twice" "were printed twice."
    row "$((distinct - present))" "are missing from the filter: it has $present of $distinct."
    echo
    row "$wrong" "of $distinct other lines seem to be in it: $wrong_rate, where $(percent "$rate") was asked for."
    row "$size" "bytes of file remember $(wc -c <"$scratch/distinct") bytes of lines."
    row "$alone_seconds" "seconds were enough for one process alone, for $lines lines ($sort_seconds by sort -u)."
    echo
}

percent()
{
    awk -v x="$1" 'BEGIN { printf "%.3g %%", x * 100 }'
}

# promise TEXT CONDITION...: say so where it does not hold.
promise()
{
    local text=$1
    shift
    [ "$@" ] || {
        echo "BROKEN: $text" >&2
        broken=yes
    }
}

judge()
{
    broken=
    promise "no line is printed twice" "$twice" -eq 0
    promise "only lines that were given are printed" "$strange" -eq 0
    promise "the item count is not below the answers printed" "$unprinted" -ge 0
    promise "at least the line that the kill cut short was unprinted" "$unprinted" -ge "$cut"
    promise "of lines that process 2 never had, only false positives are missing" \
        "$outside" -le "$never_new"
    promise "at most $most_false false positives among the adds" "$never_new" -le "$most_false"
    promise "every line is in the filter" "$present" -eq "$distinct"
    promise "at most $most_wrong other lines seem present" "$wrong" -le "$most_wrong"
    finished=yes
    [ -z "$broken" ] || exit 1
}

# What became of the lines, in words.
tell_outcome()
{
    echo "No line was printed as new twice, and the filter has every line."
    [ "$unprinted" -eq 0 ] || cat <<EOT
But the answers for $unprinted lines died with process 2: it was told that they are new, and was killed before it had
printed that.  Whoever asks again hears that they are known, so a crawler would never fetch these pages.  Where
that matters, a queue beside the filter keeps the work: docs/frontier.md (Python), docs/cookbook.md (the shell).
EOT
}

install_packages
build_tamis
gather_input
run_four
run_one
look_inside
check_answers
step_done
show_table
judge
tell_outcome
cat <<EOT

To try next, from $top:
    export TAMIS_STORE=\$HOME/seen PATH=\$PATH:$build/bin
    tamis create urls -n 1M
    printf '%s\\n' one two one | tamis add --new urls
    tamis check -v urls one three
    tamis --help
docs/c.md has the same in C; docs/concurrency.md says why no two processes are told "new".
EOT
