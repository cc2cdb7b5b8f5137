# SPDX-License-Identifier: BSD-2-Clause
"""tutorial.py TAMIS TOP: docs/go.md gives exactly what stands there, by tests/docs/sessions.py.

Its reader has a clone in ~/tamis and the library installed.  Seen to fail: a word changed in an output, a name changed in a program.
"""

import os
import sys

top = os.path.abspath(sys.argv[2])
os.environ["TAMIS"] = sys.argv[1]
os.environ["TAMIS_LIBRARY_DIR"] = os.path.join(os.environ["TAMIS_GO_FOLDER"], "..", "store")
os.environ["TAMIS_INCLUDE_DIR"] = os.path.join(top, "store", "include")
sys.path.insert(0, os.path.join(top, "tests", "docs"))
import sessions  # noqa: E402

make_tools = sessions.make_tools


def make_go_too(directory):
    """The go command, with the caches of who runs this: HOME is an empty directory."""
    tools = make_tools(directory)
    caches = "".join(f"export {name}='{os.popen(os.environ['TAMIS_GO'] + ' env ' + name).read().strip()}'\n"
                     for name in ("GOCACHE", "GOMODCACHE", "GOPROXY", "GOSUMDB"))
    sessions.write_tool(os.path.join(tools, "go"), f"#!/bin/sh\n{caches}export GOFLAGS='-buildvcs=false -tags=tamis_installed'\n"
                                              f"exec {os.environ['TAMIS_GO']} \"$@\"\n")
    os.symlink(top, os.path.join(directory, "home", "tamis"))
    return tools


sessions.make_tools = make_go_too
sessions.main([os.path.join(top, "docs", "go.md")])
