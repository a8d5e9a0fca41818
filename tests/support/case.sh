# shellcheck shell=bash
# What every test script sources: a private folder, cleaning up, time, and words for failure.
#
# A script gets CASE_DIR, a folder of its own in memory where there is room for it, removed at the end together with
# what the script registered: on_exit COMMAND... runs last-registered first, whatever the outcome. A check that fails
# ends the script with exit 1 and a line that says what was expected. Nothing here skips anything.
#
#   MDVOL_BIN, MDVOL_TOOLS   the mdvol executable and the folder of the test programs (set by ctest)
#   MDVOL_TEST_FULL          the long forms, as in tests/support/full.h
#   MDVOL_TEST_DIR           where private folders are made (default /dev/shm with 2 GiB free, else /tmp)
#   MDVOL_TEST_LIMIT         seconds after which the script is ended, cleaning up (ctest's own limit would not)
set -euo pipefail

export PATH=$PATH:/usr/sbin:/sbin
MDVOL_SOURCE=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
case_name=$(basename "$0" .sh)
exit_commands=()

say() { printf '[%4d s] %s\n' "$SECONDS" "$*"; }

# die MESSAGE: the case has failed.
die() {
  printf '%s: FAILED: %s\n' "$case_name" "$*" >&2
  exit 1
}

on_exit() { exit_commands+=("$(printf '%q ' "$@")"); }

run_exit_commands() {
  local status=$? i
  trap '' INT TERM
  set +e
  for ((i = ${#exit_commands[@]} - 1; i >= 0; i--)); do
    eval "${exit_commands[i]}"
  done
  exit "$status"
}
trap run_exit_commands EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# test_seed NAME: sets `seed`, by the rules of tests/support/seed.h: the same in every run unless MDVOL_TEST_SEED gives a
# number or MDVOL_TEST_SEED_SALT a text; printed. (`RANDOM=$seed`, and then not in $(…), where bash starts anew.)
test_seed() {
  if [ -n "${MDVOL_TEST_SEED+given}" ]; then
    [[ $MDVOL_TEST_SEED =~ ^(0x[0-9a-fA-F]{1,16}|[0-9]{1,18})$ ]] ||
      die "MDVOL_TEST_SEED=$MDVOL_TEST_SEED: not a number, write it as 123 or 0x7b"
    if [[ $MDVOL_TEST_SEED == 0x* ]]; then seed=$((MDVOL_TEST_SEED)); else seed=$((10#$MDVOL_TEST_SEED)); fi
  else
    seed=$((0x$(printf '%s' "$1${MDVOL_TEST_SEED_SALT+ $MDVOL_TEST_SEED_SALT}" | sha1sum | head -c 15)))
  fi
  printf '[ SEED     ] %s 0x%016x\n' "$1" "$seed"
}

full_run() { [ "${MDVOL_TEST_FULL:-0}" != 0 ] && [ -n "${MDVOL_TEST_FULL:-}" ]; }

need_root() {
  [ "$(id -u)" = 0 ] || die "$1 needs root; run as root, or leave the label root out"
}

need_programs() {
  local program
  for program in "$@"; do
    command -v "$program" >/dev/null || die "$program was not found; tests/install-packages.sh test installs it"
  done
}

free_mib() { df --output=avail -m "$1" 2>/dev/null | tail -1 | tr -d ' '; }

choose_test_dir() {
  if [ -n "${MDVOL_TEST_DIR:-}" ]; then
    echo "$MDVOL_TEST_DIR"
  elif [ -w /dev/shm ] && [ "$(free_mib /dev/shm)" -ge 2048 ]; then
    echo /dev/shm
  else
    echo /tmp
  fi
}

# children PID: all processes below it, deepest first. (/proc/PID/task/TID/children is not in every kernel.)
children() {
  local process line
  for process in /proc/[0-9]*; do
    line=$(cat "$process/stat" 2>/dev/null) || continue
    line=${line##*) }  # After the name, which may hold anything: state, parent, …
    line=${line#* }
    if [ "${line%% *}" = "$1" ]; then
      children "${process#/proc/}"
      echo "${process#/proc/}"
    fi
  done
}

# In a shell of its own, so that a hanging command is ended first and the script's traps then run.
watch_time() {
  sleep "$1" &
  wait $!
  echo "$case_name: FAILED: not done after $1 s" >&2
  local pid
  for pid in $(children $$); do
    if [ "$pid" != "$BASHPID" ]; then kill -KILL "$pid" 2>/dev/null || true; fi
  done
  kill -TERM $$
}
if [ -n "${MDVOL_TEST_LIMIT:-}" ]; then
  trap - EXIT  # Not in the watcher.
  watch_time "$MDVOL_TEST_LIMIT" </dev/null >&2 &
  watcher=$!
  trap run_exit_commands EXIT
  on_exit stop_watching
fi
stop_watching() {
  local pid
  for pid in $(children "$watcher") "$watcher"; do kill -KILL "$pid" 2>/dev/null || true; done
  wait "$watcher" 2>/dev/null
}

CASE_DIR=$(mktemp -d "$(choose_test_dir)/mdvol-$case_name.XXXXXX")
# Mounts first, those too that a test did not mean to make: nothing may be removed through one.
remove_case_dir() {
  local mount
  for mount in $(cut -d ' ' -f 5 /proc/self/mountinfo | grep "^$CASE_DIR/" | sort -r); do
    umount -l "$mount" 2>/dev/null || fusermount3 -u -z -q "$mount"
  done
  cd /
  rm -rf --one-file-system "$CASE_DIR"
}
on_exit remove_case_dir
cd "$CASE_DIR"

# What a sanitizer says of a process in the background would be lost; here it fails the case.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}log_path=$CASE_DIR/sanitizer"
export UBSAN_OPTIONS="${UBSAN_OPTIONS:+$UBSAN_OPTIONS:}log_path=$CASE_DIR/sanitizer"
check_sanitizers() {
  local report found=0
  for report in "$CASE_DIR"/sanitizer.*; do
    [ -e "$report" ] || continue
    found=1
    head -n 60 "$report" >&2
  done
  if [ "$found" = 1 ]; then
    echo "$case_name: FAILED: a sanitizer has reported" >&2
    status=1
  fi
}
on_exit check_sanitizers

: "${MDVOL_BIN:?the mdvol executable; ctest sets it}"
: "${MDVOL_TOOLS:?the folder of volume_exerciser and interop_reader; ctest sets it}"
exerciser() { "$MDVOL_TOOLS/volume_exerciser" "$@"; }
reader() { "$MDVOL_TOOLS/interop_reader" "$@"; }
uml_run() { "$MDVOL_SOURCE/tests/interop/uml-run" "$@"; }
