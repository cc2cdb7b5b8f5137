# SPDX-License-Identifier: BSD-2-Clause
# SIGTERM ends it after the batch in hand: answers printed, count recorded, status 128 + 15.
tamis create seen -n 1000
mkfifo input answers
tamis add --new seen <input >answers 2>told &
exec 3>input 4<answers
printf 'one\ntwo\nhalf' >&3
read -r -t 60 first <&4
read -r -t 60 second <&4
echo "$first $second"
stop_by TERM
exec 3>&-
tamis list | awk '{ print $1, $4 }'
tamis check seen one two half
