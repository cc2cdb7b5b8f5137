# SPDX-License-Identifier: BSD-2-Clause
"""The cases of cases.json: expanded to what a runner gets, held to the header and to calls.json, and judged."""

import json
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))
PATHS = ("path", "file", "files", "args")  # of a step: "@" and "@/..." in these is the directory of the case
TYPES = re.compile(r"_fn$")  # what the header calls tamis_..._fn is the type of a function, not a function


class LacksField(Exception):
    """An object that came has not this field."""


class Wrong(Exception):
    """The files of the suite do not fit each other, or the header."""


def load(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        return json.load(file)


def calls():
    """What calls.json says of each function."""
    return {name: call for part in load("calls.json").values() if isinstance(part, dict) for name, call in part.items()}


def steps_of(steps):
    """All steps, with those that are inside of a repetition."""
    for step in steps:
        if "times" in step:
            yield from steps_of([{"expect": {"error": step["until"]}, **each} for each in step["steps"]])
        else:
            yield step


# ---- What a runner gets ----------------------------------------------------------------------

def expanded(value, directory, is_path=False):
    """A value of cases.json with its short forms written out."""
    if isinstance(value, list):
        return [expanded(item, directory, is_path) for item in value]
    if isinstance(value, str):
        return directory + value[1:] if is_path and (value == "@" or value.startswith("@/")) else value
    if not isinstance(value, dict):
        return value
    if "repeat" in value:
        return value["repeat"] * value["times"]
    if "repeat_hex" in value:
        return {"hex": value["repeat_hex"] * value["times"]}
    if "numbered" in value:
        return [f"{value['numbered']}{i}" for i in range(value["count"])]
    if "all" in value:
        return [value["all"]] * value["count"]
    return {name: expanded(item, directory, name in PATHS) for name, item in value.items()}


def numbered(value, number):
    """A value of a repeated step, with the number of this time in the place of "#"."""
    if isinstance(value, str):
        return value.replace("#", str(number))
    if isinstance(value, list):
        return [numbered(item, number) for item in value]
    return {name: numbered(item, number) for name, item in value.items()} if isinstance(value, dict) else value


# ---- Do the files fit each other? ------------------------------------------------------------

def public(header):
    """The functions and the error codes of tamis_ffi.h."""
    with open(header, encoding="utf-8") as file:
        text = file.read()
    functions = {name for name in re.findall(r"\b(tamis_[a-z_0-9]+)\(", text) if not TYPES.search(name)}
    return functions, set(re.findall(r"\bTAMIS_E[A-Z]+\b", text))


def codes_of(expect):
    error = expect.get("error", []) if isinstance(expect, dict) else []
    return {error} if isinstance(error, str) else set(error)


def check(header, suite):
    """Raises Wrong if a function or an error code has no case, or a case says what calls.json does not know."""
    functions, codes = public(header)
    known, wrong = calls(), []
    all_steps = [(case["name"], step) for case in suite["cases"] for step in steps_of(case["steps"]) if "call" in step]
    called = {step["call"] for _, step in all_steps}
    seen = set().union(*(codes_of(step.get("expect")) for _, step in all_steps))
    left_out, codes_left_out = suite["functions_left_out"], suite["codes_left_out"]
    wrong += [f"{name} has no case" for name in sorted(functions - called - left_out.keys())]
    wrong += [f"{name} is no function of the library" for name in sorted((called | left_out.keys()) - functions)]
    wrong += [f"{name} is left out, and has a case" for name in sorted(called & left_out.keys())]
    wrong += [f"{name} comes in no case" for name in sorted(codes - seen - codes_left_out.keys())]
    wrong += [f"{name} is left out, and comes in a case" for name in sorted(seen & codes_left_out.keys())]
    wrong += [f"calls.json lacks {name}" for name in sorted(functions - known.keys() - left_out.keys())]
    for case, step in all_steps:
        call = known.get(step["call"], {})
        if strange := step.get("with", {}).keys() - call.get("with", {}).keys():
            wrong.append(f"{case}: {step['call']} takes no {', '.join(sorted(strange))}")
        if ("on" in step) != ("on" in call):
            wrong.append(f"{case}: {step['call']} {'lacks' if 'on' in call else 'has no'} `on`")
    names = [case["name"] for case in suite["cases"]]
    wrong += [f"two cases are called {name!r}" for name in sorted({name for name in names if names.count(name) > 1})]
    if wrong:
        raise Wrong("\n".join(wrong))


def is_refused(answer):
    """Is a flag that nobody knows an error, in the binding's words or the runner's?"""
    return "lacks" in answer or "cannot" in answer or answer.get("error") in ("INVALID", "TAMIS_EINVAL", "ANY")


# ---- Is that what was to come? ---------------------------------------------------------------

def is_number(value):
    return isinstance(value, (int, float)) or (isinstance(value, str) and re.fullmatch(r"-?[0-9]+", value))


def short(value):
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 300 else text[:300] + " ..."


def object_differs(expect, value):
    """As differs(), for an `expect` that is an object of one of the forms that README.md tells."""
    if "has" in expect:
        if not isinstance(value, dict):
            return f"{short(value)} is no object"
        for name, inner in expect["has"].items():
            if name not in value:
                raise LacksField(name)
            if inner_differs := differs(inner, value[name]):
                return f"{name}: {inner_differs}"
        return None
    if "each" in expect:
        values = [item.get(expect["each"]) for item in value] if isinstance(value, list) else value
        return differs(expect["is"], values)
    if "matches" in expect:
        return None if isinstance(value, str) and re.search(expect["matches"], value) else \
            f"{short(value)} does not match {expect['matches']}"
    if "length" in expect:
        return None if isinstance(value, list) and len(value) == expect["length"] else f"{short(value)} has not that length"
    if not is_number(value):
        return f"{short(value)} is no number"
    number = int(value) if isinstance(value, str) else value
    if number < expect.get("least", number) or number > expect.get("most", number):
        return f"{number} is not within {expect.get('least', '')} to {expect.get('most', '')}"
    return None


def differs(expect, value):
    """What is wrong with a value; None if nothing is."""
    if isinstance(expect, dict):
        return object_differs(expect, value)
    if expect == value or (isinstance(expect, int) and isinstance(value, str) and value == str(expect)):
        return None
    if isinstance(expect, list) and isinstance(value, list):
        if len(expect) != len(value):
            return f"{len(value)} values came, not {len(expect)}: {short(value)}"
        place = next(i for i in range(len(expect)) if expect[i] != value[i])
        return f"value {place} is {short(value[place])}, not {short(expect[place])}"
    return f"{short(value)} came, not {short(expect)}"


def is_as_good(error, codes):
    """The language's own error for an argument is as good as the library's; the command has no codes."""
    return (error == "INVALID" and "TAMIS_EINVAL" in codes) or (error == "ANY" and bool(codes))


def judged(step, answer):
    """What is wrong with a runner's answer to a step; None if nothing is."""
    expect = step.get("expect")
    codes = codes_of(expect)
    if "error" in answer:
        if answer["error"] not in codes and not is_as_good(answer["error"], codes):
            return f"{answer['error']} came: {answer.get('message', '')}"
        if "answers" in expect and answer["error"] != "ANY" and answer.get("answers") != expect["answers"]:
            return f"answers: {differs(expect['answers'], answer.get('answers'))}"
        return None
    if "value" not in answer:
        return f"{short(answer)} is no answer"
    if codes:
        return f"{short(answer['value'])} came, not {' or '.join(sorted(codes))}"
    return differs(expect, answer["value"]) if "expect" in step else None
