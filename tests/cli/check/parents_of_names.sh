# SPDX-License-Identifier: BSD-2-Clause
# Names and their parents in lists without exceptions, by one filter and by several.
tamis create ads -n 1000 -p 1e-9 --key-rule name
tamis create malware -n 1000 -p 1e-9 --key-rule name
tamis create plain -n 1000 -p 1e-9
tamis add ads bad.example 192.0.2.1
tamis add malware worse.example
tamis add plain bad.example b
printf '%s\n' BAD.example. a.b.Bad.example example notbad.example x.192.0.2.1 192.0.2.1 'a bad.example' >names
tamis check --parents ads <names
tamis check -vc --parents ads <names
tamis check --json --parents ads x.bad.example worse.example
tamis check ads x.bad.example
printf '0.0.0.0 x.bad.example\n0.0.0.0 other.example\n' | tamis check --parents ads --format hosts
tamis check --parents --in ads --in malware --any x.bad.example x.worse.example example
tamis check --parents --in ads --in malware --which x.bad.example X.Worse.example
tamis check --parents 'm*' -c x.worse.example other.example
tamis check --parents plain BAD.example x.bad.example a.B a.b a..b
