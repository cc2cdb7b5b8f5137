# SPDX-License-Identifier: BSD-2-Clause
"""layout.py: reads the preprocessed public headers, and prints a program in C that prints the size of each struct, the place and
size of each member, and the value of each enumerator.  A program that was compiled before depends on all of them."""
import re
import sys

text = re.sub(r"__attribute__\s*\(\(.*?\)\)", "", sys.stdin.read())
print('#include <stdio.h>\n#include <tamis.h>\nint main(void)\n{')
for name, body in sorted(re.findall(r"\bstruct (tamis_\w+)\s*\{(.*?)\n?\};", text, re.S)):
    print(f'    printf("struct {name}: %zu bytes\\n", sizeof(struct {name}));')
    for declaration in body.split(";"):
        # `int (*progress)(...)`, or `type a, *b, c[8]`: the names are before a comma or at the end.
        function = re.search(r"\(\*(\w+)\)", declaration)
        names = [function.group(1)] if function else re.findall(r"(\w+)\s*(?:\[[^\]]*\])?\s*(?:,|$)", declaration.strip())
        for member in names:
            print(f'    printf("  {member}: %zu, %zu\\n", offsetof(struct {name}, {member}), sizeof((struct {name} *)0)->{member});')
for body in re.findall(r"\benum tamis_\w+\s*\{(.*?)\}", text, re.S):
    for name in re.findall(r"\bTAMIS_\w+(?=\s*=)", body):
        print(f'    printf("{name}: %d\\n", (int){name});')
print("    return 0;\n}")
