# SPDX-License-Identifier: BSD-2-Clause
tamis -V | cmp - <(tamis --version)
tamis version | cmp - <(tamis --version)
tamis --version | grep -cE '^tamis [0-9]+\.[0-9]+\.[0-9]+$'
refused tamis version --json
