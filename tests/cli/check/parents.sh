# SPDX-License-Identifier: BSD-2-Clause
# Directory only: names and their parents
# A name matches if it or a parent is listed, and an exception for a nearer name beats that.
tamis create ads -n 1000 -p 1e-9 --key-rule name
tamis add ads bad.example
tamis except ads add good.bad.example
printf '%s\n' BAD.example. a.b.bad.example example good.bad.example x.good.bad.example notbad.example >names
tamis check --parents ads <names
tamis check -v --parents ads <names
tamis check --parents --answer yes,no ads <names
tamis check ads a.b.bad.example
expect 2 tamis check --parents --in ads x.bad.example
