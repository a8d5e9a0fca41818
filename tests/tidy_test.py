#!/usr/bin/env python3
"""Fails on what a review would send back without reading further.

    tidy_test.py ROOT         checks the tree below ROOT
    tidy_test.py --self-test  plants each kind of fault and demands to see it

The rules: a source file has at most MAX_LINES lines of at most MAX_COLUMNS columns, opens with a comment
that says what it is (but for CMakeLists.txt, often one line), and carries the include guard of its path;
nothing is left for later, switched off or skipped (WORDS). There is no list of exceptions: limits are kept
where they would be crossed.
Prints file:line: what is wrong; exit 1 if anything is.
"""

import pathlib
import re
import sys
import tempfile

MAX_LINES = 600
MAX_COLUMNS = 100
FOLDERS = (".ci", "core", "policies", "fuse", "tests", "examples", "docs")
CODE = (".h", ".cc")
SCRIPTS = (".py", ".sh", ".cmake")
TEXTS = (".md", ".toml", ".fio")

# Written in two halves, so that this file does not trip over itself.
WORDS = re.compile("|".join([
    r"\bTO" r"DO\b", r"\bFIX" r"ME\b", r"\bX" r"XX\b", r"\bHA" r"CK\b", r"\bGTEST_" r"SKIP\b",
    r"\bDISABLED" r"_\w", r"(?i:\bnot (yet )?(supported|implemented)" r" yet\b)",
    r"(?i:\bnot yet " r"(supported|implemented)\b)"]))


def is_script(path, text):
    return path.endswith(SCRIPTS) or path.endswith("CMakeLists.txt") or text.startswith("#!")


def has_opening_comment(path, text):
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#!")]
    first = lines[0].strip() if lines else ""
    if path.endswith(CODE):
        return re.match(r"(//|/\*)\W*\w", first) is not None
    return re.match(r'(#|""")\s*\w', first) is not None


def guard_of(path):
    return "MDVOL_" + re.sub(r"\W", "_", path).upper() + "_"


def check_file(path, text):
    lines = text.splitlines()
    errors = [f"{path}:{number}: {WORDS.search(line).group(0)}: finish it, or leave it out"
              for number, line in enumerate(lines, 1) if WORDS.search(line)]
    if not path.endswith(CODE) and not is_script(path, text):
        return errors
    if len(lines) > MAX_LINES:
        errors.append(f"{path}:{len(lines)}: more than {MAX_LINES} lines: split the file")
    if not path.endswith("CMakeLists.txt") and not has_opening_comment(path, text):
        errors.append(f"{path}:1: no opening comment that says what the file is for")
    if path.endswith(CODE):
        errors += [f"{path}:{number}: more than {MAX_COLUMNS} columns"
                   for number, line in enumerate(lines, 1) if len(line) > MAX_COLUMNS]
    if path.endswith(".h") and not re.search(rf"^#ifndef {guard_of(path)}\n#define {guard_of(path)}\n",
                                             text, re.MULTILINE):
        errors.append(f"{path}:1: the include guard must be {guard_of(path)}")
    return errors


def is_checked(path):
    if not path.is_file() or "__pycache__" in path.parts:
        return False
    return path.suffix in CODE + SCRIPTS + TEXTS + ("",) or path.name == "CMakeLists.txt"


def check_tree(root):
    files = [path for folder in FOLDERS for path in (root / folder).rglob("*") if is_checked(path)]
    files += [path for path in root.glob("*") if path.name != "LICENSE" and is_checked(path)]
    errors = []
    for path in sorted(files):
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue  # Without a suffix, but no script: a test's data.
        errors += check_file(path.relative_to(root).as_posix(), text)
    return len(files), errors


GUARDED = "// A.\n#ifndef MDVOL_CORE_A_H_\n#define MDVOL_CORE_A_H_\n#endif\n"
VIOLATIONS = [
    ("core/a.cc", "// A.\n" * (MAX_LINES + 1), "more than 600 lines"),
    ("tests/run.sh", "#!/bin/bash\n# A.\n" + "true\n" * MAX_LINES, "more than 600 lines"),
    ("fuse/a.cc", "// A.\nint a" + "a" * MAX_COLUMNS + ";\n", "more than 100 columns"),
    ("core/a.cc", "#include <a>\n// A.\n", "no opening comment"),
    ("core/b.cc", "//\n// B.\n", "no opening comment"),
    ("core/c.cc", "", "no opening comment"),
    ("tests/a.py", "#!/usr/bin/env python3\nimport os\n", "no opening comment"),
    ("examples/a", "#!/bin/sh\nset -e\n", "no opening comment"),
    ("tests/CMakeLists.txt", "# TO" "DO\n", "finish it"),
    ("core/a.h", GUARDED.replace("CORE_A", "A"), "MDVOL_CORE_A_H_"),
    ("core/a.cc", "// A.\nint a;  // TO" "DO: b\n", "finish it"),
    ("docs/a.md", "FIX" "ME\n", "finish it"),
    ("README.md", "This is not supported" " yet.\n", "finish it"),
    ("tests/a.cc", "// A.\n  GTEST_" "SKIP();\n", "finish it"),
    ("tests/b.cc", "// A.\nTEST(A, DISABLED" "_B) {}\n", "finish it"),
]
CLEAN = [
    ("core/a.h", GUARDED),
    ("core/a.cc", "// A.\n" * MAX_LINES),
    ("core/b.cc", "/* B. */\n"),
    ("core/CMakeLists.txt", "mdvol_library(core)\n"),
    ("tests/a.py", '#!/usr/bin/env python3\n"""A."""\n'),
    ("tests/run.sh", "#!/bin/bash\n# A.\nmktemp /tmp/" + "X" * 6 + "\n"),
    ("tests/data", "TODOS\n"),
    ("docs/a.md", "a " * MAX_COLUMNS + "\n"),
]


def errors_of_planted(files):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for path, text in files:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        return check_tree(root)[1]


def self_test():
    failures = [f"clean, but: {error}" for error in errors_of_planted(CLEAN)]
    for path, text, message in VIOLATIONS:
        errors = errors_of_planted([(path, text)])
        if len(errors) != 1 or not errors[0].startswith(path + ":") or message not in errors[0]:
            failures.append(f"{path}: wanted one error with '{message}', got {errors}")
    return len(VIOLATIONS) + len(CLEAN), failures


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if sys.argv[1] == "--self-test":
        count, errors = self_test()
    else:
        count, errors = check_tree(pathlib.Path(sys.argv[1]))
        if count == 0:
            errors = [f"{sys.argv[1]}: no file there"]
    print("\n".join(errors + [f"{count} checked, {len(errors)} wrong"]))
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
