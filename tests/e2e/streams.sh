#!/bin/bash
# Standard streams that are closed, and others: nothing that is printed lands in a member, nothing that the daemon keeps
# makes somebody wait, and output that cannot be written is told.
. "$(dirname "$0")/../support/case.sh"
. "$MDVOL_SOURCE/tests/support/volume.sh"
need_programs mdadm fusermount3

name_members 6
create_array 4M --chunk 64K
mkdir mnt
mount_volume mnt
head -c 300000 /dev/urandom >data
dd if=data of=mnt/volume bs=64K seek=3 conv=notrunc status=none
# A stale member, whose being left out every later mount warns of.
mdvol fail mnt 5
stop_volume mnt
fingerprint "${MEMBERS[@]}" >before

# without_streams SUBSET COMMAND...: with these of 0, 1 and 2 closed.
without_streams() {
  local closed=$1
  shift
  (
    case $closed in *0*) exec 0<&- ;; esac
    case $closed in *1*) exec 1>&- ;; esac
    case $closed in *2*) exec 2>&- ;; esac
    exec "$@"
  )
}

# check_untouched SUBSET HOW: the mount shows the data, and nothing but the times of reading has changed.
check_untouched() {
  cmp <(dd if=mnt/volume bs=64K skip=3 count=5 status=none | head -c 300000) data || die "$2, $1 closed: other bytes"
  mdvol status mnt >status.out || die "$2, $1 closed: status"
  mdvol stop mnt >stop.out 2>&1 || die "$2, $1 closed: stop: $(cat stop.out)"
  fingerprint "${MEMBERS[@]}" | cmp - before || die "$2, $1 closed: members have changed"
}

on_exit drop_mount "$CASE_DIR/mnt"
for closed in none 0 1 2 01 02 12 012; do
  without_streams "$closed" timeout 60 "$MDVOL_BIN" mount "${MEMBERS[@]}" mnt >out 2>&1 </dev/null ||
    die "mount with $closed closed: $(cat out)"
  check_untouched "$closed" background

  # Its events would go to standard error.
  without_streams "$closed" "$MDVOL_BIN" mount --foreground "${MEMBERS[@]}" mnt >out 2>&1 </dev/null &
  foreground=$!
  wait_for 20 test -e mnt/volume || die "mount --foreground with $closed closed: $(cat out)"
  check_untouched "$closed" foreground
  wait "$foreground" || die "mount --foreground with $closed closed: exit $?"
done
examine_members clean AAAAA. "${MEMBERS[@]:0:5}"
say "closed streams"

# What would be printed where nobody can read it is an error, as with other programs.
if without_streams 1 "$MDVOL_BIN" examine "${MEMBERS[0]}" 2>err; then die "examine without standard output: exit 0"; fi
grep -q 'standard output' err || die "examine without standard output: $(cat err)"
for output in closed full; do
  rm -f new*.img
  if [ $output = full ]; then
    exec {out}>/dev/full
  else
    exec {out}</dev/null
  fi
  if "$MDVOL_BIN" create --size 4M new{0..3}.img 1>&"$out" 2>err; then die "create, output $output: exit 0"; fi
  exec {out}>&-
  grep -q '^mdvol: the array [0-9a-f:]* was created, but standard output' err || die "create, output $output: $(cat err)"
  mdvol examine new{0..3}.img | grep -q 'starts with 4 of 4 members, clean' || die "create, output $output: no array"
done
say "output that cannot be written"

# A program that ignores its children hands that down.
( trap '' CHLD; exec "$MDVOL_BIN" mount "${MEMBERS[@]}" mnt ) >out 2>&1 || die "mount with SIGCHLD ignored: $(cat out)"
( trap '' CHLD; exec "$MDVOL_BIN" stop mnt ) || die "stop with SIGCHLD ignored"
# A shell cannot ignore it for others in all versions: once more by a program that surely does.
python3 - "$MDVOL_BIN" "${MEMBERS[@]}" >out 2>&1 <<'PYTHON' || die "with SIGCHLD ignored: $(cat out)"
import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
def run(*words):
    pid = os.posix_spawn(sys.argv[1], ["mdvol", *words], os.environ)
    ends = os.pidfd_open(pid)
    import select
    if not select.select([ends], [], [], 60)[0]:
        sys.exit("does not end: " + words[0])
run("mount", *sys.argv[2:], "mnt")
if not os.path.exists("mnt/volume"):
    sys.exit("no volume")
run("stop", "mnt")
if os.path.exists("mnt/volume"):
    sys.exit("not stopped")
PYTHON
say "SIGCHLD ignored"

# With auto_unmount a fusermount3 stays for as long as the mount; who reads the output waits for all who can write to it.
timeout 60 bash -c '"$@" 2>&1 | cat' - "$MDVOL_BIN" mount -o auto_unmount "${MEMBERS[@]}" mnt >out ||
  die "mount -o auto_unmount in a pipe: $(cat out)"
[ -e mnt/volume ] || die "mount -o auto_unmount: no volume: $(cat out)"
daemon=$(daemon_of mnt) || die "mount -o auto_unmount: no daemon"
kill -KILL "$daemon"
# For ordinary users some versions of fusermount3 do not look behind a dead mount, and leave it: the next mount cleans up.
not_mounted() { ! is_mounted mnt; }
if [ "$(id -u)" = 0 ]; then
  wait_for 20 not_mounted || die "auto_unmount: still mounted after the daemon's end"
fi
wait_for 20 is_gone "$daemon" || die "auto_unmount: the daemon lives"
mdvol mount "${MEMBERS[@]}" mnt >out 2>&1 || die "mount after auto_unmount: $(cat out)"
stop_volume mnt
say "auto_unmount"
