#!/bin/bash
# failure-drill.sh: what an array looks like while things break, on six image files: two members fail, the daemon is
# killed between writes, and killed again just after a write while two members are gone. Takes seconds, needs no root.
# All that it makes lies in one folder below TMPDIR (/var/tmp when that is not set), which is removed at the end.
#
#   examples/failure-drill.sh       with mdvol in PATH, or MDVOL_BIN=/path/to/mdvol
set -euo pipefail
export PATH=$PATH:/usr/sbin:/sbin
mdvol_program=$(command -v "${MDVOL_BIN:-mdvol}") ||
  { echo "failure-drill.sh: no mdvol in PATH; name it with MDVOL_BIN" >&2; exit 1; }
mdvol_program=$(readlink -f "$mdvol_program")
mdvol() { "$mdvol_program" "$@"; }

work=$(mktemp -d "${TMPDIR:-/var/tmp}/mdvol-drill.XXXXXX")
daemon=

cleanup() {
  local status=$?
  trap '' INT TERM
  set +e
  cd /
  if grep -qF " $work/array " /proc/self/mountinfo; then
    mdvol stop "$work/array" 2>/dev/null || fusermount3 -u -z "$work/array"
  fi
  if [ -n "$daemon" ] && is_alive "$daemon"; then kill "$daemon"; fi
  rm -rf "$work"
  if [ "$status" != 0 ]; then echo "The drill has failed (exit $status); the lines above say where." >&2; fi
  exit "$status"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# ---- How it is shown ---------------------------------------------------------------------------------

step_number=0
step() {
  step_number=$((step_number + 1))
  printf '\n%d. %s\n' "$step_number" "$*"
}
# run COMMAND...: shows it as one would type it, and runs it.
run() {
  printf '   $ %s\n' "$*"
  "$@" 2>&1 | sed 's/^/     /'
}
# refused COMMAND...: as run, and it must fail.
refused() {
  if run "$@"; then
    echo "this should have been refused: $*" >&2
    exit 1
  fi
}
tell() { printf '   %s\n' "$@"; }

# Not a zombie either.
is_alive() { [ -d "/proc/$1" ] && ! grep -q '^State:[[:space:]]*Z' "/proc/$1/status" 2>/dev/null; }

# reads_of MEMBER: its r_requests, how often it has been read since the mount.
reads_of() { sed -n "s/^$1 \([0-9]*\) .*/\1/p" array/iostat; }

# compare_volume: the volume's first 40 MB with what was written, read with O_DIRECT: the page cache may still hold what
# was written, and would answer without the array. Each of the four members that are left must have been read.
compare_volume() {
  local member
  local -A before
  for member in "${survivors[@]}"; do before[$member]=$(reads_of "$member"); done
  printf '   $ %s\n' 'dd if=array/volume iflag=direct bs=1M count=40 status=none | cmp - original'
  dd if=array/volume iflag=direct bs=1M count=40 status=none | cmp - original
  for member in "${survivors[@]}"; do
    if [ "$(reads_of "$member")" -le "${before[$member]}" ]; then
      echo "$member has not been read: those bytes did not come from the array" >&2
      exit 1
    fi
  done
}

# Sets `daemon` to the process behind the mount.
find_daemon() { daemon=$(sed -n 's/^ *"pid": \([0-9]*\).*/\1/p' array/status.json); }

# As kill -9, and waits until the members are let go.
kill_daemon() {
  find_daemon
  printf '   $ kill -9 %s                # the daemon: "pid" in array/status.json\n' "$daemon"
  kill -KILL "$daemon"
  while is_alive "$daemon"; do sleep 0.05; done
  daemon=
}

cd "$work"
mkdir array
members=(d0.img d1.img d2.img d3.img d4.img d5.img)
survivors=(d0.img d2.img d3.img d5.img)

# ---- The drill ------------------------------------------------------------------------------------------

step "An array of six images, mounted and filled with 40 MB of random bytes"
run mdvol create --raid-devices 6 --size 16M --chunk 64K --name drill "${members[@]}"
run mdvol mount "${members[@]}" array
find_daemon
run dd if=/dev/urandom of=original bs=1M count=40 status=none
run dd if=original of=array/volume bs=1M conv=notrunc,fsync status=none

step "Two members fail. The array goes on; a third is refused, because the array could not live without it"
run mdvol fail array d1.img 4
run mdvol status array
refused mdvol fail array d0.img

step "Every byte is still there: what lay on the two is computed from P and Q while it is read"
tell "O_DIRECT, because the page cache still knows what was written. iostat shows who was read."
compare_volume
tell "the same 41943040 bytes, from four members of six"
printf '   $ %s\n' "cut -d ' ' -f 1-3 array/iostat"
cut -d ' ' -f 1-3 array/iostat | sed 's/^/     /'

step "The daemon is killed while nothing is being written"
tell "Each superblock has been marked clean 0.2 s after the last write (md/safe_mode_delay), so no harm is done."
# array_state is "clean" once that has happened.
while [ "$(cat array/md/array_state)" != clean ]; do sleep 0.05; done
kill_daemon
refused ls array
refused mdvol status array

step "The same mount command again: it takes the dead mount away, and leaves out the two that have failed"
run mdvol mount "${members[@]}" array
find_daemon
run cat array/events
compare_volume

step "Now the worst: killed just after a write, with two members gone"
tell "The clean mark is put off, so that the superblocks still say dirty when the daemon dies."
run mdvol set array safe_mode_delay=60
dd if=/dev/urandom of=block bs=64K count=1 status=none
run dd if=block of=array/volume bs=64K seek=77 conv=notrunc,fsync status=none
dd if=block of=original bs=64K seek=77 conv=notrunc status=none
run mdvol get array array_state
kill_daemon

step "Dirty and degraded: parity may not fit the data, so what was on the two may be computed wrongly. md refuses, too"
refused mdvol mount "${members[@]}" array

step "Looked at read-only it is served as it stands, and not one byte of any member changes"
sha1sum "${members[@]}" >before
run mdvol mount --read-only "${members[@]}" array
find_daemon
run cat array/events
compare_volume
run mdvol stop array
daemon=
sha1sum "${members[@]}" | cmp - before
tell "sha1sum of all members: as before"

step "Started with --force it is declared clean as it stands. Here every write had ended, so nothing is lost"
run mdvol mount --force "${members[@]}" array
find_daemon
run cat array/events
compare_volume
run mdvol stop array
daemon=

step "What mdadm makes of it: four members that agree, and two that were failed"
for member in "${members[@]}"; do
  printf '   $ mdadm --examine %s | grep -E "Events|Array State"\n' "$member"
  mdadm --examine "$member" | grep -E '^ *(Events|Array State) ' | sed 's/^ */     /'
done

printf '\nDone in %d s. docs/failure-model.md says what is promised when, and why.\n' "$SECONDS"
