# SPDX-License-Identifier: BSD-2-Clause
# Closed standard descriptors are errors where they are used, and never become a file of the store.
tamis create seen -n 1000
expect 2 tamis add seen <&-
expect 2 tamis add --new seen a >&-
tamis add seen b >&-
tamis add seen c <&- >&- 2>&-
expect 2 tamis add absent d 2>&-
sound 2>&1
tamis check seen a b c d
