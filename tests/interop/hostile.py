# SPDX-License-Identifier: BSD-2-Clause
"""hostile.py: an HTTP server on 127.0.0.1 that answers what a test wants, good or bad."""
import re
import socket
import ssl
import struct
import subprocess
import threading


class Request:
    def __init__(self, connection, path, headers):
        self.connection = connection
        self.path = path
        self.headers = headers  # lower-case names

    def send(self, data):
        self.connection.sendall(data if isinstance(data, bytes) else data.encode())

    def head(self, status, *headers):
        lines = [f"HTTP/1.1 {status} X", "Connection: close", *headers, "", ""]
        self.send("\r\n".join(lines))

    def reset(self):
        """The connection ends at once, by RST."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()


class Server:
    """Each request is answered by self.answer(request), in a thread of its own."""

    def __init__(self, context=None):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.context = context
        self.answer = None
        self.requests = []  # all that have come, as Request
        self.sent = 0  # bytes of bodies, by whole()
        self.thread = threading.Thread(target=self.accept, daemon=True)
        self.thread.start()

    def url(self, path="/list", user=""):
        return f"http{'s' if self.context else ''}://{user}127.0.0.1:{self.port}{path}"

    def accept(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        try:
            connection.settimeout(60)
            if self.context:
                connection = self.context.wrap_socket(connection, server_side=True)
            head = b""
            while b"\r\n\r\n" not in head:
                got = connection.recv(4096)
                if not got:
                    return
                head += got
            lines = head.decode("latin-1").split("\r\n")
            headers = dict(line.lower().split(": ", 1) for line in lines[1:] if ": " in line)
            raw = dict((line.split(": ", 1)[0].lower(), line.split(": ", 1)[1])
                       for line in lines[1:] if ": " in line)
            headers.update(raw)
            request = Request(connection, lines[0].split(" ")[1], headers)
            self.requests.append(request)
            self.answer(request)
        except (OSError, ssl.SSLError):
            pass
        finally:
            connection.close()

    def whole(self, data, etag='"one"', ranges=True, cut=None, pace=None):
        """The answer of a good server that has these bytes; `cut`: it closes after so many of them;
        pace(): called after each piece of 4096."""
        def answer(request):
            if etag and request.headers.get("if-none-match") == etag:
                request.head(304, f"ETag: {etag}")
                return
            begin, last = 0, len(data) - 1
            wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", request.headers.get("range", ""))
            is_part = ranges and wanted and request.headers.get("if-range", etag) == etag
            if is_part:
                begin, last = int(wanted.group(1)), min(last, int(wanted.group(2) or last))
                if begin >= len(data):
                    request.head(416, f"Content-Range: bytes */{len(data)}", "Content-Length: 0")
                    return
            tag = [f"ETag: {etag}"] if etag else []
            part = [f"Content-Range: bytes {begin}-{last}/{len(data)}"] if is_part else []
            request.head(206 if is_part else 200, *tag, *part, f"Content-Length: {last + 1 - begin}")
            end = last + 1 if cut is None else min(last + 1, begin + cut)
            for at in range(begin, end, 4096):
                piece = data[at:min(at + 4096, end)]
                request.send(piece)
                self.sent += len(piece)
                if pace:
                    pace()
        return answer

    def close(self):
        """Ends accept() first: a thread that is still in it could take the connections of the next server, whose socket
        may have the same number."""
        self.socket.shutdown(socket.SHUT_RDWR)
        self.thread.join(10)
        self.socket.close()


def authority(directory, name="127.0.0.1"):
    """A CA and a certificate of it for 127.0.0.1.  (path of the CA's certificate, context)"""
    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], cwd=directory, check=True, capture_output=True)
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
            "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=test CA")
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
            "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=server")
    with open(f"{directory}/san", "w", encoding="ascii") as file:
        file.write(f"subjectAltName=IP:{name}\n")
    openssl("x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key",
            "-CAcreateserial", "-out", "server.pem", "-days", "2", "-extfile", "san")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f"{directory}/server.pem", f"{directory}/server.key")
    return f"{directory}/ca.pem", context


def first_then(first, then):
    answers = [first]

    def answer(request):
        (answers.pop() if answers else then)(request)
    return answer


def head(status, *headers, body=b""):
    def answer(request):
        request.head(status, *headers)
        request.send(body)
    return answer
