# SPDX-License-Identifier: BSD-2-Clause
# Directory only: makes exceptions, which is done where the files are
# A name matches if it or a parent is listed, and an exception for a nearer name beats that.
tamis create ads -n 1000 -p 1e-9 --key-rule name
tamis add ads bad.example
tamis except ads add good.bad.example
printf '%s\n' BAD.example. a.b.bad.example example good.bad.example x.good.bad.example notbad.example >names
tamis check --parents ads <names
tamis check -v --parents ads <names
tamis check --parents --answer yes,no ads <names
tamis check ads a.b.bad.example
# Several filters: each has its own parents and exceptions.
tamis create malware -n 1000 -p 1e-9 --key-rule name
tamis add malware worse.example good.bad.example
tamis check --parents --in ads --in malware --any x.bad.example x.worse.example x.good.bad.example example
tamis check --parents --in ads --in malware x.bad.example x.worse.example x.good.bad.example
tamis check --parents --in ads --in malware --which x.bad.example x.good.bad.example
printf '0.0.0.0 x.bad.example x.worse.example\n0.0.0.0 other.example\n' | tamis check --parents --in ads --in malware --which --format hosts
tamis check --parents '*' --any -c x.worse.example other.example
# A helper of another program, which goes on without a list.
printf 'x.bad.example\nother.example\n' | tamis check --parents ads --answer yes,no,unknown
printf '0 x.bad.example -\n' | tamis check --parents ads --answer yes,no,unknown --channel --first-word
expect 2 tamis check --parents none --answer yes,no,unknown x.bad.example
