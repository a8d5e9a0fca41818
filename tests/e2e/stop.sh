#!/bin/bash
# How a stop ends: what could not be made clean is said, and can be stopped all the same; synchronous writes are durable
# before they return.
. "$(dirname "$0")/../support/case.sh"
. "$MDVOL_SOURCE/tests/support/volume.sh"
need_programs mdadm fusermount3 python3

name_members 5
create_array 4M --chunk 64K
volume=$CASE_DIR/mnt/volume
on_exit drop_mount "$CASE_DIR/mnt"

# ---- Synchronous writes ----------------------------------------------------------------------------------------------
mount_volume mnt
flushes() { awk 'NR > 1 {sum += $12} END {print sum}' mnt/iostat; }
# write_by HOW PYTHON: must flush members, or for "not at all" must not.
write_by() {
  local before
  before=$(flushes)
  python3 -c "
import mmap, os
def write(flags, rwf=0):
    file = os.open('$volume', os.O_RDWR | flags)
    page = mmap.mmap(-1, 65536)
    page.write(os.urandom(65536))
    assert os.pwritev(file, [page], 65536, rwf) == 65536
    os.close(file)
$2" || die "write by $1"
  if [ "$1" = "not at all" ]; then
    [ "$(flushes)" = "$before" ] || die "a plain write has flushed the members"
  else
    [ "$(flushes)" -ge $((before + 5)) ] || die "a write by $1 returned, and not every member was flushed"
  fi
}
mdvol set mnt safe_mode_delay=0
write_by "O_DSYNC" "write(os.O_DSYNC)"  # The first write is preceded by the bitmap's flushes.
write_by "not at all" "write(0)"
write_by "not at all" "write(os.O_DIRECT)"
for direct in 0 os.O_DIRECT; do
  write_by "O_DSYNC" "write(os.O_DSYNC | $direct)"
  write_by "O_SYNC" "write(os.O_SYNC | $direct)"
  write_by "RWF_DSYNC" "write($direct, os.RWF_DSYNC)"
  write_by "RWF_SYNC" "write($direct, os.RWF_SYNC)"
done
stop_volume mnt
examine_members clean AAAAA "${MEMBERS[@]}"
say "synchronous writes"

# ---- Writers that are suspended ------------------------------------------------------------------------------------------
mount_volume mnt
for direct in "oflag=direct" ""; do
  mdvol set mnt suspend_hi=4096
  dd if=/dev/zero of="$volume" bs=64K count=1 conv=notrunc $direct status=none &
  writer=$!
  sleep 0.5
  kill -0 $writer || die "a write to suspended bytes does not wait"
  refuses 1 'mnt: in use, not stopped' "$MDVOL_BIN" stop mnt
  mdvol set mnt suspend_hi=0
  wait $writer || die "a suspended write has failed"
done
mdvol set mnt suspend_hi=4096
stop_volume mnt
say "suspended writers"

# ---- An array that is broken -------------------------------------------------------------------------------------------
mount_volume mnt
daemon=$(daemon_of mnt)
head -c 1M /dev/urandom >data
for index in 0 1 2; do echo 'kind = "eio", op = "write"' >"mnt/md/dev-d$index.img/fault"; done
if dd if=data of="$volume" bs=1M conv=notrunc,fsync status=none 2>dd.err; then die "three members fail, and a write succeeds"; fi
[ "$(cat mnt/md/array_state)" = broken ] || die "array_state: $(cat mnt/md/array_state)"
grep -q '^[^ ]* : broken raid6 ' mnt/mdstat || die "mdstat: $(cat mnt/mdstat)"
mdvol detail mnt | grep -q '^ *State : active, FAILED ' || die "detail: $(mdvol detail mnt)"
exec {held}<"$volume"
refuses 1 'mnt: in use, not stopped' "$MDVOL_BIN" stop mnt
exec {held}<&-
refuses 1 'mnt: unmounted, but not clean: .*put the members that were lost back; look with' "$MDVOL_BIN" stop mnt
! is_mounted mnt || die "a broken array is still mounted after its stop"
! is_alive "$daemon" || die "stop has returned while the daemon lives"
# As with a cable that is back.
mount_volume mnt --force
dd if=data of="$volume" bs=1M conv=notrunc,fsync status=none || die "writing after the next mount"
cmp -n 1048576 data "$volume" || die "after the next mount: other bytes"
stop_volume mnt
say "broken"

# ---- A stop that fails, and a daemon that dies, after the unmount --------------------------------------------------------
mount_volume mnt
mdvol set mnt safe_mode_delay=0
dd if=data of="$volume" bs=1M conv=notrunc status=none
daemon=$(daemon_of mnt)
kill -STOP "$daemon"
(sleep 1; kill -KILL "$daemon") &
killer=$!
if timeout 60 "$MDVOL_BIN" stop mnt 2>stop.err; then die "the daemon was killed, and stop succeeds"; fi
wait "$killer"
[ "$(wc -l <stop.err)" = 1 ] || die "the daemon was killed: $(cat stop.err)"
fusermount3 -u mnt 2>/dev/null || true
mount_volume mnt
stop_volume mnt
say "killed"
