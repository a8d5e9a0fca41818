#!/usr/bin/env python3
"""Fails on an #include that points the wrong way.

    include_direction_test.py ROOT         checks core/, policies/ and fuse/ below ROOT
    include_direction_test.py --self-test  plants each kind of violation and demands to see it

The rules, all in this file's tables:
  - fuse -> policies -> core/policy (and core/base), fuse -> core; nothing includes tests/ or examples/.
  - inside core a folder includes only itself and folders before it in CORE_ORDER.
  - a library is included only by the folders in LIBRARIES.
  - inside core only core/base and core/device call the OS: its headers, clocks and sleeps.
  - quoted includes start at the repository root.
Prints file:line: what is wrong; exit 1 if anything is.
"""

import pathlib
import re
import sys
import tempfile

CORE_ORDER = ["base", "device", "geometry", "parity", "metadata", "policy", "stripe", "array", "sync",
              "config"]
OS_FOLDERS = ("core/base", "core/device")
OUR_TOP_FOLDERS = ("core", "policies", "fuse", "tests", "examples")

# What a header belongs to, and who may include it (folder prefixes).
LIBRARIES = [
    ("libfuse", re.compile(r"(fuse3?/)?(fuse|fuse_\w+|cuse_lowlevel)\.h|linux/fuse\.h"), ("fuse",)),
    ("toml++", re.compile(r"toml\+\+/.*|toml\.hpp"), ("core/config",)),
    ("ISA-L", re.compile(r"isa-l(/.*|\.h)"), ("core/parity",)),
    ("liburing", re.compile(r"liburing(/.*|\.h)"), ("core/device",)),
    ("nlohmann-json", re.compile(r"nlohmann/.*"), ("fuse",)),
    ("CLI11", re.compile(r"CLI/.*"), ("fuse",)),
    ("GoogleTest", re.compile(r"(gtest|gmock)/.*"), ()),
    ("Google Benchmark", re.compile(r"benchmark/.*"), ()),
]
OS_HEADER = re.compile(
    r"(sys|linux|asm|netinet|arpa|net)/.*"
    r"|(unistd|fcntl|poll|dlfcn|pthread|sched|signal|dirent|syslog|mntent|pwd|grp|termios|ftw|glob|spawn"
    r"|aio|mqueue|semaphore|execinfo|ucontext|netdb|ifaddrs)\.h|csignal")
OS_CALL = re.compile(
    r"absl::(Now|SleepFor)\b|\b(system|steady|high_resolution)_clock::now\b|\bsleep_(for|until)\b")

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def folder_of(path):
    """core/stripe/executor.cc -> core/stripe; policies/registry.h -> policies."""
    parts = path.split("/")
    return "/".join(parts[:2]) if parts[0] == "core" else parts[0]


def direction_error(source, target):
    """Why a file in folder `source` may not include one of folder `target`; None if it may."""
    if target in ("tests", "examples"):
        return f"{target}/ is for nobody else to include"
    if source == "fuse":
        return None
    if source == "policies":
        allowed = ("policies", "core/policy", "core/base")
        return None if target in allowed else "policies/ may use core/policy and core/base only"
    if not target.startswith("core/"):
        return f"core/ does not know {target}/"
    order = ["core/" + name for name in CORE_ORDER]
    if source not in order or target not in order:
        return f"{source if source not in order else target} is not in the order of core's folders"
    if order.index(target) > order.index(source):
        return f"{source} comes before {target}"
    return None


def include_error(path, quote, header):
    folder = folder_of(path)
    if quote == '"' and header.split("/")[0] in OUR_TOP_FOLDERS and "/" in header:
        return direction_error(folder, folder_of(header))
    for library, pattern, users in LIBRARIES:
        if pattern.fullmatch(header):
            is_user = any(folder == user or path.startswith(user + "/") for user in users)
            return None if is_user else f"{library} belongs to {' '.join(users) or 'tests'} only"
    if quote == '"' and not header.startswith("absl/"):
        return "a quoted include starts at the repository root"
    if folder.startswith("core/") and folder not in OS_FOLDERS and OS_HEADER.fullmatch(header):
        return "inside core only core/base and core/device call the OS"
    return None


def check_file(path, text):
    folder = folder_of(path)
    may_call_os = folder in OS_FOLDERS or folder == "fuse"
    errors = []
    for number, line in enumerate(text.splitlines(), 1):
        include = INCLUDE.match(line)
        error = include_error(path, *include.groups()) if include else None
        if error:
            errors.append(f"{path}:{number}: {include.group(2)}: {error}")
        code = line.split("//")[0]
        if not may_call_os and OS_CALL.search(code):
            errors.append(f"{path}:{number}: {OS_CALL.search(code).group(0)}: time comes from a Clock")
    return errors


def check_tree(root):
    files = sorted(path for top in ("core", "policies", "fuse") for path in (root / top).rglob("*")
                   if path.suffix in (".h", ".cc") and path.is_file())
    errors = []
    for path in files:
        errors += check_file(path.relative_to(root).as_posix(), path.read_text())
    return len(files), errors


# (file, line, part of the message): each must be found.
VIOLATIONS = [
    ("core/base/a.h", '#include "core/device/b.h"', "core/base comes before core/device"),
    ("core/geometry/a.h", '#include "core/parity/b.h"', "comes before"),
    ("core/array/a.cc", '#include "core/sync/b.h"', "comes before"),
    ("core/sync/a.cc", '#include "core/config/b.h"', "comes before"),
    ("core/extra/a.h", '#include "core/base/b.h"', "core/extra is not in the order"),
    ("core/stripe/a.h", '#include "core/extra/b.h"', "core/extra is not in the order"),
    ("core/array/a.h", '#include "policies/b.h"', "does not know policies/"),
    ("core/array/a.h", '#  include  "fuse/b.h"', "does not know fuse/"),
    ("policies/a.cc", '#include "core/stripe/b.h"', "core/policy and core/base only"),
    ("policies/a.cc", '#include "fuse/b.h"', "core/policy and core/base only"),
    ("fuse/a.cc", '#include "tests/support/b.h"', "nobody else"),
    ("core/base/a.cc", '#include "examples/b.h"', "nobody else"),
    ("core/array/a.cc", "#include <fuse_lowlevel.h>", "libfuse"),
    ("policies/a.cc", "#include <fuse3/fuse.h>", "libfuse"),
    ("core/base/a.cc", "#include <linux/fuse.h>", "libfuse"),
    ("fuse/a.cc", "#include <toml++/toml.h>", "toml++"),
    ("core/base/a.cc", "#include <isa-l/crc.h>", "ISA-L"),
    ("core/stripe/a.cc", '#include "isa-l.h"', "ISA-L"),
    ("core/stripe/a.cc", "#include <liburing.h>", "liburing"),
    ("core/config/a.cc", "#include <nlohmann/json.hpp>", "nlohmann"),
    ("policies/a.cc", "#include <CLI/CLI.hpp>", "CLI11"),
    ("core/base/a.cc", "#include <gtest/gtest.h>", "GoogleTest"),
    ("core/array/a.cc", "#include <unistd.h>", "call the OS"),
    ("core/config/a.cc", "#include <fcntl.h>", "call the OS"),
    ("core/stripe/a.cc", "#include <sys/uio.h>", "call the OS"),
    ("core/sync/a.cc", "#include <linux/fs.h>", "call the OS"),
    ("core/base/a.cc", '#include "b.h"', "repository root"),
    ("core/base/a.cc", '#include "../base/b.h"', "repository root"),
    ("core/sync/a.cc", "  const auto t = absl::Now();", "Clock"),
    ("policies/a.cc", "  auto t = std::chrono::steady_clock::now();", "Clock"),
]
CLEAN = [
    ("core/base/a.cc", "#include <unistd.h>"),
    ("core/device/a.cc", "#include <liburing.h>"),
    ("core/device/b.cc", "#include <sys/uio.h>"),
    ("core/parity/a.cc", "#include <isa-l/raid.h>"),
    ("core/config/a.cc", "#include <toml++/toml.h>"),
    ("core/sync/a.cc", '#include "core/array/array.h"  // and not absl::Now()'),
    ("core/array/a.cc", '#include "absl/status/status.h"'),
    ("policies/a.cc", '#include "core/policy/a.h"'),
    ("fuse/cli/a.cc", "#include <CLI/CLI.hpp>"),
    ("fuse/a.cc", '#include "policies/registry.h"'),
    ("fuse/b.cc", "#include <fuse_lowlevel.h>"),
    ("fuse/c.cc", '#include "fuse/session.h"'),
    ("fuse/d.cc", "#include <sys/stat.h>"),
]


def errors_of_planted(files):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for path, line in files:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(f"// A file.\n{line}\n")
        return check_tree(root)[1]


def self_test():
    failures = [f"clean, but: {error}" for error in errors_of_planted(CLEAN)]
    for path, line, message in VIOLATIONS:
        errors = errors_of_planted([(path, line)])
        if len(errors) != 1 or f"{path}:2: " not in errors[0] or message not in errors[0]:
            failures.append(f"{path}: {line}: wanted one error with '{message}', got {errors}")
    return len(VIOLATIONS) + len(CLEAN), failures


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if sys.argv[1] == "--self-test":
        count, errors = self_test()
    else:
        count, errors = check_tree(pathlib.Path(sys.argv[1]))
        if count == 0:
            errors = [f"{sys.argv[1]}: no source file there"]
    print("\n".join(errors + [f"{count} checked, {len(errors)} wrong"]))
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
