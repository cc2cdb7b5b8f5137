# SPDX-License-Identifier: BSD-2-Clause
"""Classes with the signatures of other packages, for programs that move to Tamis: pybloomfilter.BloomFilter, rbloom.Bloom."""
