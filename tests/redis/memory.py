# SPDX-License-Identifier: BSD-2-Clause
"""Memory that is a process' own."""


def private_bytes(pid):
    """Of a process and its children.  A page of a shared file mapping is neither memory of its own, nor does it become
    that in a child."""
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        family = [str(pid)] + file.read().split()
    return sum(private_bytes_of(one) for one in family)


def private_bytes_of(pid):
    total, is_shared = 0, False
    try:
        with open(f"/proc/{pid}/smaps", encoding="ascii", errors="replace") as file:
            for line in file:
                words = line.split()
                if "-" in words[0] and not words[0].endswith(":"):
                    is_shared = words[1][3] == "s"
                elif words[0] in ("Private_Clean:", "Private_Dirty:") and not is_shared:
                    total += int(words[1]) * 1024
    except (FileNotFoundError, ProcessLookupError):
        pass  # the child has ended
    return total
