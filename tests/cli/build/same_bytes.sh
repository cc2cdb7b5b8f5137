# SPDX-License-Identifier: BSD-2-Clause
# The same keys and parameters give the same bytes of data, whatever the order, threads and memory.
seq 300000 >keys
cat keys keys | shuf >shuffled
# The header has times; the data begin behind it, at 4096.
data() { tail -c +4097 "$TAMIS_STORE/segments/$1" | cksum; }
newest() { find "$TAMIS_STORE/segments" -name '*.seg' -printf '%f\n' | sort | tail -n 1; }
tamis build list keys -p 0.1% --threads 1
data "$(newest)" >want
for options in '--threads 2' '--threads 7' '--memory 1MiB' '--memory 1MiB --threads 3'; do
    # shellcheck disable=SC2086
    tamis build list shuffled -p 0.1% $options
    data "$(newest)" | diff want -
done
tamis build list keys -p 0.1% --seed 5
data "$(newest)" | cmp -s want - && echo "the seed changes nothing"
tamis check -c list <keys
