# SPDX-License-Identifier: BSD-2-Clause
"""A client of RESP2 and RESP3 that keeps apart what a server keeps apart."""
import socket


class Simple(str):
    """A simple string: +OK."""


class Error(str):
    """An error, with its first word: -ERR not found."""


class Client:
    def __init__(self, port, resp=2, host="127.0.0.1"):
        self.socket = socket.create_connection((host, port), timeout=120)
        self.file = self.socket.makefile("rb")
        if resp == 3:
            self("HELLO", "3")

    def send(self, *words):
        parts = [b"*%d\r\n" % len(words)]
        for word in words:
            word = word if isinstance(word, bytes) else str(word).encode()
            parts.append(b"$%d\r\n%s\r\n" % (len(word), word))
        self.socket.sendall(b"".join(parts))

    def answer(self):
        line = self.file.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("the server is gone")
        kind, rest = line[:1], line[1:-2]
        if kind == b"$":
            return None if rest == b"-1" else self.file.read(int(rest) + 2)[:-2]
        if kind == b"*":
            return None if rest == b"-1" else [self.answer() for _ in range(int(rest))]
        if kind == b"%":
            return {self.answer(): self.answer() for _ in range(int(rest))}
        if kind == b"~":
            return [self.answer() for _ in range(int(rest))]
        if kind == b"=":
            return self.file.read(int(rest) + 2)[4:-2]
        text = rest.decode()
        return {b":": lambda: int(text), b"+": lambda: Simple(text), b"-": lambda: Error(text),
                b"#": lambda: text == "t", b",": lambda: float(text), b"_": lambda: None}[kind]()

    def __call__(self, *words):
        self.send(*words)
        return self.answer()

    def good(self, *words):
        """The answer, which is no error."""
        answer = self(*words)
        if isinstance(answer, Error):
            raise AssertionError(f"{words[:4]}: {answer}")
        return answer

    def chunks(self, command, key):
        """What BF.SCANDUMP or CF.SCANDUMP gives of a key: each iterator with its data."""
        iterator, chunks = 0, []
        while True:
            iterator, data = self.good(command, key, iterator)
            if iterator == 0:
                return chunks
            chunks.append((iterator, data))

    def close(self):
        self.file.close()
        self.socket.close()


def shown(answer, null="nil"):
    """An answer in the notation of the files of cases."""
    if answer is None:
        return null
    if isinstance(answer, bool):
        return "#t" if answer else "#f"
    if isinstance(answer, Simple):
        return "+" + answer
    if isinstance(answer, Error):
        return "-" + answer
    if isinstance(answer, (int, float)):
        return str(answer)
    if isinstance(answer, bytes):
        if all(32 <= c < 127 for c in answer):
            return '"' + answer.decode() + '"'
        return f'"{len(answer)} x 00"' if not any(answer) else 'x"' + answer.hex() + '"'
    if isinstance(answer, dict):
        return "{" + ", ".join(f"{key}: {shown(value, null)}" for key, value in answer.items()) + "}"
    return "[" + ", ".join(shown(one, null) for one in answer) + "]"
