# SPDX-License-Identifier: BSD-2-Clause
# A reader that goes away ends it with an error.
tamis create hits -n 1000 --kind counting
tamis add hits a
set -o pipefail
yes a | tamis count hits | head -n 1
echo "${PIPESTATUS[1]}"
