# SPDX-License-Identifier: BSD-2-Clause
# Format tamis has a place for the key rule, and no other format has one.
tamis create seen -n 1000 -p 1e-9 --key-rule url:sort
tamis add seen 'http://example.com/?a=1&b=2'
for format in redis-bitmap redisbloom guava spark parquet dcso pybloomfilter; do
    expect 2 tamis export seen --to "$format" out
done
tamis export seen --to tamis seen.tamis
tamis import other --from tamis seen.tamis
tamis info other key_rule
tamis check other 'HTTP://Example.com:80/?b=2&a=1#top' http://example.com/
# A filter that is made like it has the rule; one with another rule is not merged.
tamis create like --like other
tamis add --new like 'http://example.com/?b&a' 'http://example.com/?a&b'
tamis create plain -n 1000 -p 1e-9
expect 2 tamis merge plain like
