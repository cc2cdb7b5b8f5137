# SPDX-License-Identifier: BSD-2-Clause
"""docs_test.py PAGE: the examples of docs/python.md answer what the page says.

By an interpreter that has pyarrow, of PyPI; where that cannot be reached, without the examples that use it.
"""

import doctest
import os
import re
import sys
import tempfile
import types

from support import pypi

PYTHON = pypi("numpy", "pyarrow")
if PYTHON and os.path.dirname(os.path.dirname(PYTHON)) != sys.prefix:
    os.execv(PYTHON, [PYTHON, "-B", "-X", "dev", *sys.argv])
with open(sys.argv[1], encoding="utf-8") as file:
    text = file.read()
if PYTHON is None:
    text = re.sub(r"^```python\n>>> import numpy, pyarrow\n.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
text = re.sub(r"^```.*$", "", text, flags=re.MULTILINE)
with tempfile.TemporaryDirectory() as place:
    os.chdir(place)
    test = doctest.DocTestParser().get_doctest(text, {}, "python.md", sys.argv[1], 0)
    main, page = sys.modules["__main__"], types.ModuleType("__main__")  # pickles of functions name it
    sys.modules["__main__"], test.globs = page, vars(page)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(test, clear_globs=False)
    test.globs.clear()
    sys.modules["__main__"] = main
    os.chdir("/")
print(runner.summarize())
sys.exit(1 if runner.failures or runner.tries < 30 else 0)
