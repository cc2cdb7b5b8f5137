# SPDX-License-Identifier: BSD-2-Clause
"""Pages of docs/ whose sessions are run: those about servers, and migrating.md.  tests/docs/sessions.py runs the others."""
import os
import re
import subprocess

DOCS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs")


class Page:
    def __init__(self, name):
        with open(os.path.join(DOCS, name), encoding="utf-8") as file:
            self.text = file.read()

    def blocks(self, language):
        return re.findall(rf"^```{language}\n(.*?)^```$", self.text, re.MULTILINE | re.DOTALL)

    def steps(self):
        """(command, output) of all sessions; a command stands after "$ ", and is continued after "> "."""
        found = re.findall(r"^\$ (.*\n(?:> .*\n)*)((?:(?!\$ ).*\n)*)", "".join(self.blocks("console")), re.MULTILINE)
        return [(re.sub(r"^> ", "", command, flags=re.MULTILINE)[:-1], output) for command, output in found]


def bash(command, directory, tools, **environment):
    """(status, all that it prints); programs of the directory `tools` come first."""
    done = subprocess.run(["bash", "-c", command], cwd=directory, check=False, text=True, timeout=120,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={**os.environ, "PATH": tools + ":" + os.environ["PATH"], "LC_ALL": "C.UTF-8", **environment})
    return done.returncode, done.stdout
