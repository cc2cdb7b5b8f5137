# SPDX-License-Identifier: BSD-2-Clause
"""tamis.compat beside the packages that it stands for, of PyPI: the same lines are run with the one and the other.

It was seen to fail for an add() of pybloomfilter that answers as tamis.Filter.add() does, and for `<` that is `<=`.
"""

import json
import os
import subprocess
import unittest

from support import StoreTest, pypi, skip

RUN = '''
import importlib, json, sys, pickle
module, lines = sys.argv[1], json.loads(sys.argv[2])
own = vars(importlib.import_module(module)).copy()
own["pickle"] = pickle
exec("""
def func(o): return sum(map(ord, str(o))) * 0x9E3779B97F4A7C15
def other(o): return len(str(o))
""", own)
for line in lines:
    try:
        try:
            answer = eval(line, own)
        except SyntaxError:
            answer = exec(line, own)
        print(json.dumps([line, repr(answer)]))
    except Exception as error:
        print(json.dumps([line, type(error).__name__]))
'''

# What must not differ.  approx_items is a sum of logarithms, so it is rounded.
RBLOOM = """bf = Bloom(200, 0.01)
bool(bf)
bf.add("hello")
"hello" in bf, "world" in bf
bf.update(["hello", "world"])
other_bf = Bloom(200, 0.01)
other_bf.add(3.5), other_bf.add((1, "x")), other_bf.add(None)
third_bf = bf | other_bf
fourth_bf = bf.copy()
fourth_bf.update(other_bf)
third_bf == fourth_bf, bf.issubset(third_bf), bf <= third_bf, bf < third_bf, third_bf < third_bf, third_bf <= bf
third_bf > bf, third_bf >= bf, bf != third_bf, third_bf.issuperset(bf), bf != 5, bf == 5
bf < 5
bf.size_in_bits, Bloom(10, 0.3).size_in_bits, Bloom(12345, 1e-6).size_in_bits
[Bloom(n, p).size_in_bits for n in range(5, 300) for p in (.5, .3, .1, .01)]
round(third_bf.approx_items)
round(bf.approx_items), repr(bf & other_bf), "hello" in (bf & third_bf), 3.5 in (bf & third_bf)
bf.intersection(["hello"]) == bf.copy().intersection(["hello"]), "world" in bf.intersection(["hello"])
bf.union() == bf, "q" in bf.union(["q"], {"r"}), "q" in bf
bf.intersection_update(["hello"], third_bf)
"hello" in bf, "world" in bf
bf |= other_bf
bf &= third_bf
3.5 in bf, (1, "x") in bf, 1 in bf
bf.clear()
bool(bf), repr(bf)
bf.hash_func
Bloom(0, .1)
Bloom(-1, .1)
Bloom(10, 0)
Bloom(10, 1)
Bloom(10, 2)
Bloom("a", .1)
Bloom(10, .1, 5)
Bloom(expected_items=10, false_positive_rate=.1, hash_func=func).hash_func is func
bf | Bloom(300, .01)
bf | [1]
bf & 5
bf.union(Bloom(300, .01))
bf.update(5)
bf.update(Bloom(200, .01, func))
bf == Bloom(300, .01)
bf.add([])
[] in bf
hash(bf)
len(bf)
iter(bf)
pickle.dumps(bf)
bf.save("saved")
bf.save_bytes()
Bloom.load("saved", hash)
Bloom.load_bytes(b"x" * 40, hash)
cf = Bloom(1000, .001, func)
cf.update(["a", "b", 5])
cf.save("saved")
df = Bloom.load("saved", func)
df == cf, "a" in df, 5 in df, "x" in df, round(df.approx_items), df.size_in_bits
Bloom.load_bytes(cf.save_bytes(), hash_func=func) == cf
df |= Bloom(1000, .001, other)
Bloom(9, .1, lambda o: 2**127).add(1)
Bloom(9, .1, lambda o: 2**127 - 1).add(1)
Bloom(9, .1, lambda o: -2**127).add(1)
Bloom(9, .1, lambda o: "s").add(1)
[sum(i in b for i in range(5000)) for b in [Bloom(5000, .01)] for _ in [b.update(range(5000))]]
Bloom.load("nothing", func)"""

PYBLOOM = """fruit = BloomFilter(100000, 0.1, "words.bloom")
fruit.update(("apple", "pear", "orange", "apple"))
len(fruit)
"mike" in fruit, "apple" in fruit, b"apple" in fruit
fruit.add("apple"), fruit.add("lime"), fruit.add(5), fruit.add(5), 5 in fruit, (1, 2) in fruit, None in fruit
len(fruit), fruit.capacity, fruit.error_rate, fruit.num_bits, fruit.num_hashes, len(fruit.hash_seeds), fruit.read_only
repr(fruit), str(fruit), fruit.filename, fruit.name
fruit.sync()
veg = fruit.copy_template("veg.bloom")
len(veg), veg.add("leek"), veg.add("apple"), veg.capacity, veg.hash_seeds == fruit.hash_seeds
both = fruit.copy("both.bloom")
"apple" in both, "leek" in both
both.union(veg) is both, "leek" in both, "pear" in both, len(both), both.approx_len
both.intersection(veg) is both, "leek" in both, "apple" in both, "pear" in both
both |= fruit
both &= fruit
"pear" in both, "leek" in both
again = BloomFilter.from_base64("again.bloom", fruit.to_base64())
"apple" in again, "mike" in again, again.capacity
fruit.close()
fruit.add("x")
len(fruit)
"apple" in fruit
fruit.close()
fruit = BloomFilter.open("words.bloom")
"apple" in fruit, fruit.capacity
reader = BloomFilter.open("words.bloom", "r")
reader.read_only, "apple" in reader
reader.add("x")
reader.clear_all()
fruit.clear_all()
len(fruit), "apple" in fruit
BloomFilter(10, 0.1, "words.bloom").capacity
open("empty.bloom", "x").close()
BloomFilter(10, 0.1, "empty.bloom").add("a")
cakes = BloomFilter(10000, 0.1)
cakes.add("apple"), cakes.add("apple"), "apple" in cakes, cakes.bit_count > 0, cakes.fileno()
unpickled = pickle.loads(pickle.dumps(cakes))
"apple" in unpickled, "pear" in unpickled, unpickled.num_bits == cakes.num_bits
cakes.filename
cakes.name
cakes.copy("x.bloom")
cakes.to_base64()
cakes | cakes
cakes.add([])
cakes.add("\\ud800")
cakes.union(BloomFilter(10000, 0.1))
cakes.union(None)
BloomFilter(100, 2)
BloomFilter(100, 0)
BloomFilter(100, 1)
BloomFilter(100, "x")
BloomFilter(1)
BloomFilter()
BloomFilter(100, .1, hash_seeds=[1, 2]).hash_seeds
BloomFilter(100, .1, hash_seeds=[-1])
BloomFilter(100, .1, hash_seeds=[2**32])
BloomFilter(1, .5).num_bits, BloomFilter(1000, 1e-5).num_bits, BloomFilter(1000, 1e-5).num_hashes
BloomFilter.open("nothing")
BloomFilter.open("/etc/passwd")
[sum(i in b for i in range(5000)) for b in [BloomFilter(5000, .01)] for _ in [b.update(range(5000))]]
cakes.close()
cakes.add("x")
repr(cakes)"""


class Beside(StoreTest):
    def answers(self, python, module, lines, place):
        os.makedirs(place, exist_ok=True)
        done = subprocess.run([python, "-c", RUN, module, json.dumps(lines)], capture_output=True, text=True, check=False,
                              cwd=place, timeout=120, env=os.environ | {"PYTHONHASHSEED": "0"})
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def compare(self, package, module, text):
        lines = text.splitlines()
        theirs = self.answers(PYTHON, module, lines, self.directory + "/theirs")
        ours = self.answers(PYTHON, "tamis.compat." + module, lines, self.directory + "/ours")
        self.assertEqual(len(theirs), len(lines))
        for one, other in zip(ours, theirs):
            with self.subTest(one[0]):
                self.assertEqual(one[1], other[1])

    def test_rbloom(self):
        self.compare("rbloom", "rbloom", RBLOOM)

    def test_pybloomfilter(self):
        self.compare("pybloomfiltermmap3", "pybloomfilter", PYBLOOM)


class Own(StoreTest):
    def test_files_of_others_are_refused_and_kept(self):
        from tamis.compat.pybloomfilter import BloomFilter
        from tamis.compat.rbloom import Bloom
        path = os.path.join(self.directory, "theirs.bloom")
        with open(path, "wb") as file:
            file.write(b"x" * 100)
        with self.assertRaises(FileExistsError):
            BloomFilter(10, 0.1, path)
        with self.assertRaisesRegex(ValueError, "rbloom itself"):
            Bloom.load(path, len)
        self.assertEqual(os.path.getsize(path), 100)

    def test_missing_parents_are_not_made(self):
        """They were.  The package raises an OSError without a number."""
        from tamis.compat.pybloomfilter import BloomFilter
        with self.assertRaises(FileNotFoundError):
            BloomFilter(10, 0.1, os.path.join(self.directory, "no/such.bloom"))
        self.assertFalse(os.path.exists(os.path.join(self.directory, "no")))

    def test_damaged_bytes_are_refused(self):
        from tamis.compat.rbloom import Bloom
        data = Bloom(100, 0.1, len).save_bytes()
        for end in (0, 8, 16, 31, len(data) - 1):
            with self.assertRaises(ValueError):
                Bloom.load_bytes(data[:end], len)
        with self.assertRaises(ValueError):
            Bloom.load_bytes(data[:16] + b"\xff" * 16 + data[32:], len)


if __name__ == "__main__":
    PYTHON = pypi("pybloomfiltermmap3", "rbloom")
    if PYTHON is None:
        skip("PyPI cannot be reached")
    unittest.main()
