# SPDX-License-Identifier: BSD-2-Clause
# Each format, with each command; what is printed is the whole record.
tamis create s -n 10k --kind counting
printf '0.0.0.0 a.example b.example # c\n127.0.0.1 localhost\n\n::1 c.example\nfoo\n' >hosts
tamis add --new --format hosts s <hosts
tamis add --new --format hosts s --file hosts
tamis check s a.example b.example c.example localhost foo
# A record is there if one of its keys is, and is not if none is.
printf '0.0.0.0 other.example b.example\n0.0.0.0 absent.example\n' >some
tamis check --format hosts s <some
tamis check -v --format hosts s <some
tamis check -c --format hosts s <some
tamis check -cv --format hosts s <some
tamis check --json --format hosts s <some
tamis count --format hosts s <hosts 2>/dev/null
tamis uniq --format hosts some hosts some 2>/dev/null
printf '0.0.0.0 a.example\n' | tamis remove --format hosts s && tamis count s a.example
tamis explain --hash-set xxh3 -m 64 -k 1 --format domains <<<'*.x.example' | cut -f 1
# CSV: by number and by name, quotes, newlines in a field, a record without the field.
printf 'id,url,x\n1,"http://a,b/""q""",z\r\n2,http://c,z\n3,"line1\nline2",w\n4\n' >table
tamis add --new --format csv --field url s <table
tamis check s 'http://a,b/"q"' http://c
tamis check -z s $'line1\nline2' | tr '\0' '|'
echo
tamis add --new --format csv s <<<'first;all'
printf 'x;y\n' | tamis add --json --format csv --separator ';' --field 2 s
printf 'x\t"y\n' | tamis add --json --format tsv --field 2 s
expect 2 tamis add --format csv --field none s <table
expect 2 tamis add --format csv s <<<'"open'
# JSON lines: a path, arrays, escapes, names with dots, what is none.
cat >documents <<'X'
{"a":{"b":"x\u00fc\ud83d\ude00\n"},"c":[1,{"a":2}]}
{"a":{"b":["p","q",3,null]}}
{"a":[{"b":"r"},{"b":"t"}],"z":{"a":{"b":"not this"}}}
{"a.b":"dotted"}
{"x":"}"}
no json
X
tamis add --json --format jsonl --field a.b s <documents
printf '"whole"\n["of","each"]\n' | tamis add --new --format jsonl s
tamis check s whole of each
# Indexes of web archives.
printf ' CDX N b a m s\ncom,example)/ 20240101 https://example.com/1 text/html 200\ncom,example)/ 20240101 {"url": "https://example.com/2"}\n' |
    tamis add --json --format cdx s
printf ' CDX a b\nhttps://example.com/3 20240101\n' | tamis add --json --format cdx s
# A record of more keys than a batch.
tamis create many -n 10k
seq -s , 5000 | sed 's/.*/[&]/' >array
tamis add --new --format jsonl many <array | cmp - array
tamis check -c --format jsonl many <array
tamis info many items
# Another format than was said.
seq -f '||ads%.0f.example^' 10 | expect 2 tamis add --format hosts s
expect 2 tamis add --format jsonl s <<<hello
expect 2 tamis add --format bla s
expect 2 tamis add --format auto s
expect 2 tamis add --field 2 s
expect 2 tamis add --format csv --field 0 s
expect 2 tamis add --format csv --separator ab s
expect 2 tamis add --format hosts --separator , s
expect 2 tamis check --answer OK,ERR --format hosts s
# Line by line.
coproc tamis add --new --format hosts many 2>/dev/null
adder=$COPROC_PID
exec 3<&"${COPROC[0]}" 4>&"${COPROC[1]}"
input=${COPROC[1]}
for name in one.example two.example; do
    echo "0.0.0.0 $name" >&4
    read -r -t 60 answer <&3
    echo "$answer"
done
exec 4>&- {input}>&-
wait "$adder"
