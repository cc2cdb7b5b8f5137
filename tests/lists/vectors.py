# SPDX-License-Identifier: BSD-2-Clause
"""vectors.py TAMIS: the keys that the command takes of each input of vectors.json, which the Python package is held to too."""

import json
import pathlib
import subprocess
import sys
import tempfile

VECTORS = json.loads((pathlib.Path(__file__).parent / "vectors.json").read_text(encoding="utf-8"))


def keys_of(tamis, vector, directory):
    """All keys, in their order, as `explain` prints them; None: the input is refused."""
    options = [f"--{name}={vector[name]}" for name in ("format", "field", "separator") if name in vector]
    run = subprocess.run([tamis, "explain", "--hash-set", "xxh3", "-m", "64", "-k", "1", "--json", *options],
                         input=vector["input"].encode(), capture_output=True, check=False, cwd=directory)
    if run.returncode != 0:
        return None, run.stderr.decode()
    lines = [json.loads(line) for line in run.stdout.decode().splitlines()]
    return [bytes.fromhex(line["key_hex"]) if "key_hex" in line else line["key"].encode() for line in lines], run.stderr.decode()


def main():
    wrong = 0
    with tempfile.TemporaryDirectory() as directory:
        for vector in VECTORS:
            keys, told = keys_of(sys.argv[1], vector, directory)
            expected = None if vector.get("refused") else [key.encode() for key in vector["keys"]]
            if keys != expected:
                wrong += 1
                print(f"{vector['format']}: {vector['input']!r}\n  expected {expected}\n  got      {keys}\n  {told}")
    print(f"{len(VECTORS)} inputs, {wrong} wrong")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
