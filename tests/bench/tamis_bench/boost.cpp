/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * boost.cpp: the filter that Boost.Bloom's documentation calls its fastest, with Boost's own hash:
 * a key has a bit in each of eight words of 32 bits, by vectors of AVX2.  It is in private memory,
 * as its allocator gives it, and is for one thread.
 */
#include "boost.h"

#include <boost/bloom.hpp>
#include <new>

using boost_filter =
    boost::bloom::filter<std::uint64_t, 1, boost::bloom::fast_multiblock32<8>>;

void *boost_open(uint64_t capacity, double fp_rate)
{
    try {
        return new boost_filter(capacity, fp_rate);
    } catch (const std::bad_alloc &) {
        return nullptr;
    }
}

void boost_close(void *filter)
{
    delete static_cast<boost_filter *>(filter);
}

void boost_add(void *filter, const uint64_t *keys, size_t count)
{
    static_cast<boost_filter *>(filter)->insert(keys, keys + count);
}

int64_t boost_ask(const void *filter, const uint64_t *keys, size_t count, uint8_t *answers)
{
    int64_t yes = 0;
    static_cast<const boost_filter *>(filter)->may_contain(
        keys, keys + count, [&](const uint64_t &, bool there) {
            *answers++ = there;
            yes += there;
        });
    return yes;
}
