# shellcheck shell=bash
# What the programs for measuring share: options, the built programs, a folder in memory, and what is left of it at the end.
# Sourced first; the options are variables of the same names that the program has set before parse_options.

set -euo pipefail
source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build_dir=$source_dir/build/release
program=$(basename "$0")

# The comment that the program opens with.
usage() { sed -n '2,/^[^#]/{/^#/s/^# \{0,1\}//p}' "$0"; }
fail() { echo "$program: $*" >&2; exit 1; }

# parse_options "NAME..." ARGUMENT...: --NAME VALUE sets the variable NAME, and a call of quick() stands behind --quick.
parse_options() {
  local names=" $1 " name
  shift
  while [ $# -gt 0 ]; do
    name=${1#--}
    name=${name//-/_}
    case $1 in
      --quick) quick ;;
      --help) usage; exit 0 ;;
      --*)
        [[ $names == *" $name "* ]] || { usage >&2; exit 2; }
        [ $# -ge 2 ] || { echo "$program: $1 wants a value" >&2; exit 2; }
        printf -v "$name" %s "$2"
        shift
        ;;
      *) usage >&2; exit 2 ;;
    esac
    shift
  done
  # The programs work elsewhere.
  build_dir=$(realpath -m "$build_dir")
  [ -z "${csv:-}" ] || csv=$(realpath -m "$csv")
}

# find_program NAME: the path of what was built.
find_program() {
  local found
  found=$(find "$build_dir" -type f -name "$1" -perm -u+x | head -n 1)
  [ -n "$found" ] || fail "$1 is not in $build_dir; build it, or name the folder with --build-dir"
  echo "$found"
}

need_programs() {
  local name
  for name in "$@"; do
    command -v "$name" >/dev/null || fail "$name was not found; tests/install-packages.sh test installs it"
  done
}

# enter_memory MIB MOUNTPOINT...: goes to a new folder in memory, which is removed at the end, with the mountpoints in it.
enter_memory() {
  [ -w /dev/shm ] && [ "$(df --output=avail -m /dev/shm | tail -1)" -ge "$1" ] ||
    fail "/dev/shm: $1 MiB must be free, or disks would be measured"
  shift
  work=$(mktemp -d "/dev/shm/mdvol-${program%.sh}.XXXXXX")
  mountpoints=("$@")
  trap leave_memory EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  cd "$work"
  mkdir "$@"
}

leave_memory() {
  local status=$? name
  trap '' INT TERM
  set +e
  cd /
  for name in "${mountpoints[@]}"; do
    if grep -qF " $work/$name " /proc/self/mountinfo; then
      "$mdvol" stop "$work/$name" 2>/dev/null || fusermount3 -u "$work/$name" || fusermount3 -u -z "$work/$name"
    fi
  done
  at_exit
  rm -rf "$work"
  exit "$status"
}
at_exit() { :; }  # what else a program has to end

median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
machine() { echo "$(uname -m), $(nproc) cores, $(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -n 1), Linux $(uname -r)"; }
