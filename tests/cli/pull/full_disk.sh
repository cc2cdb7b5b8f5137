# SPDX-License-Identifier: BSD-2-Clause
# Directory only: pull makes a generation of a store in a directory.
# No room for the file, or for the filter that it becomes: the list in force stays, and no spool is left that takes the room.
seq 1000000 | tamis --store there build large -p 1e-6
tamis --store there export large --to tamis large.tamis
seq 7 | tamis --store there build small
tamis --store there export small --to tamis small.tamis
small_disk 2m
tamis pull list "file://$PWD/small.tamis"
refused tamis pull list "file://$PWD/large.tamis" 2>told
sed -E "s|@[A-Z]*@\|/[^ ]*/large|DIR/large|g" told | no_sizes /dev/stdin
# A length that nobody tells: half of the free disk, and that is given back.  (The name in a head of gzip has no end, so nobody
# looks at a filter before.)
cat >server.py <<'END'
import socket
server = socket.create_server(("127.0.0.1", 0))
print(server.getsockname()[1], flush=True)
client = server.accept()[0]
client.recv(4096)
try:
    client.sendall(b"HTTP/1.0 200 OK\r\n\r\n\x1f\x8b\x08\x08\0\0\0\0\0\3" + b"x" * 2**22)
except OSError:
    pass
END
python3 server.py >port &
until [ -s port ]; do sleep 0.05; done
refused tamis pull list "http://127.0.0.1:$(<port)/endless" --insecure 2>told
no_sizes told | sed "s/:$(<port)//"
wait
tamis check list 7 8
ls "$TAMIS_STORE/staging"
find "$TAMIS_STORE/pulls" -name '*.part'
tamis verify
