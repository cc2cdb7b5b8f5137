# SPDX-License-Identifier: BSD-2-Clause
# Another system's hash set makes a filter of kind bloom, with that system's k, m and bit order.
show() {
    tamis info "$1" --json | sed -E 's/.*"kind":"([^"]*)","hash_set":"([^"]*)","m_bits":([0-9]*),"k":([0-9]*).*"bit_order":"([^"]*)".*/\1 \2 \3 \4 \5/'
}
tamis create rptc --hash-set php:bkdr,sdbm,js -m 64Mi
tamis create comments --hash-set php:js,pjw -m 1000003 -k 2 -n 1000 -p 0.01
tamis create sized --hash-set php:fnv,djb,fnv -n 1000 -p 0.01
tamis create mt --hash-set php-mt -n 1000 -m 10000
tamis create mt_k --hash-set php-mt-legacy -n 1000 -m 10000 -k 3
tamis create mt_p --hash-set php-mt -n 1000 -p 0.001
tamis create guava --hash-set guava -n 2000 -p 0.01
tamis create guava_k --hash-set guava -m 64 -k 3
tamis create redisbloom --hash-set redisbloom -n 100000 -p 0.001
for name in rptc comments sized mt mt_k mt_p guava guava_k redisbloom; do
    show "$name"
done
tamis create like --like rptc
show like
tamis info like note
tamis info guava note
tamis create like --if-missing --hash-set php:bkdr,sdbm,js -m 64Mi
expect 2 tamis create like --if-missing --hash-set php:bkdr,sdbm -m 64Mi
expect 2 tamis create like --if-missing --hash-set guava -m 64Mi -k 3
printf 'a\nb\n' | tamis add like --new
tamis list -q
tamis list like --json | grep -o '"hash_set":"[^"]*"'
sound
