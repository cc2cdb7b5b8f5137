# SPDX-License-Identifier: BSD-2-Clause
# Who has it open is told at the next call.
# Directory only: a handle of the library is open, and its sentence is told
tamis create seen -n 1000
# The shell forgets COPROC and COPROC_PID as soon as the command has ended.
coproc tamis add --new seen 2>told
adder=$COPROC_PID
exec 3<&"${COPROC[0]}" 4>&"${COPROC[1]}"
input=${COPROC[1]}
echo one >&4
read -r -t 60 answer <&3
echo "$answer"
tamis drop seen
echo two >&4
exec 4>&-
exec {input}>&-
wait "$adder"
echo "exit $?"
cat told
