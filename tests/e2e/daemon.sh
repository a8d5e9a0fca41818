#!/bin/bash
# The daemon's life: start in the background with failures reported, ready when mount returns, stop while busy, SIGTERM,
# SIGINT, fusermount3 -u, kill -9 and the next mount, read-only, locks. As root and as an ordinary user.
. "$(dirname "$0")/../support/case.sh"
. "$MDVOL_SOURCE/tests/support/volume.sh"
need_programs mdadm fusermount3 flock

name_members 6
create_array 4M --chunk 64K
volume=$CASE_DIR/mnt/volume
mkdir mnt other

examine_clean() { examine_members clean AAAAAA "${MEMBERS[@]}"; }
put() { printf '%s' "$1" | dd of="$volume" bs=1 seek="$2" conv=notrunc status=none; }
get() { dd if="$volume" bs=1 skip="$1" count="$2" status=none; }
examine_clean

# ---- Start --------------------------------------------------------------------------------------------------
# In a pipe: a daemon that keeps the caller's output open would let this hang.
output=$(timeout 60 "$MDVOL_BIN" mount "${MEMBERS[@]}" mnt 2>&1 | cat) || die "mount: $output"
on_exit drop_mount "$CASE_DIR/mnt"
[ -f "$volume" ] || die "mount has returned before the volume was there"
daemon=$(daemon_of mnt) || die "no daemon after mount"
session_of() { sed 's/.*) //' "/proc/$1/stat" | cut -d ' ' -f 4; }
[ "$(session_of "$daemon")" != "$(session_of $$)" ] || die "the daemon is in the session of who started it"
[ "$(readlink "/proc/$daemon/cwd")" = / ] || die "the daemon keeps $(readlink "/proc/$daemon/cwd") busy"
for name in mdstat status.json events iostat md/level md/raid_disks md/array_state md/rd0; do
  cat "mnt/$name" >/dev/null 2>&1 || [ -d "mnt/$name" ] || die "$name cannot be read"
done
[ "$(cat mnt/md/level)" = raid6 ] || die "md/level: $(cat mnt/md/level)"
grep -q '\[6/6\] \[UUUUUU\]' mnt/mdstat || die "mdstat: $(cat mnt/mdstat)"
jq -e '.raid_disks == 6 and .degraded == 0 and (.members | length) == 6' mnt/status.json >/dev/null ||
  die "status.json: $(cat mnt/status.json)"
mdvol detail mnt >detail.out || die "mdvol detail: $(cat detail.out)"
mdvol status mnt >status.out || die "mdvol status: $(cat status.out)"
say "start"

# ---- Members are held, and may be looked at ------------------------------------------------------------------
refuses 1 'd[0-5]\.img' "$MDVOL_BIN" mount "${MEMBERS[@]}" other
if flock --nonblock --exclusive "${MEMBERS[2]}" true; then die "a member of a mounted array is not locked"; fi
mdvol examine "${MEMBERS[@]}" >examine.out || die "examine of a mounted array: $(cat examine.out)"
say "locks"

# ---- Stop while busy -------------------------------------------------------------------------------------------
exec {held}<>"$volume"
refuses 1 'mnt.*(busy|use|open)' "$MDVOL_BIN" stop mnt
is_mounted mnt || die "a stop that was refused has unmounted"
is_alive "$daemon" || die "a stop that was refused has ended the daemon"
printf 'still works' >&"$held" || die "writing after a stop that was refused"
[ "$(get 0 11)" = "still works" ] || die "reading after a stop that was refused"
exec {held}>&-
stop_volume mnt
examine_clean
say "stop"

# ---- Signals and unmounting -------------------------------------------------------------------------------------
# ends_clean TEXT COMMAND...: what was written before the command is there afterwards, and the members are clean.
ends_clean() {
  local text=$1
  shift
  mount_volume mnt
  daemon=$(daemon_of mnt)
  put "$text" 70000
  "$@" || die "$*"
  wait_for 20 is_gone "$daemon" || die "$*: the daemon lives"
  ! is_mounted mnt || die "$*: still mounted"
  examine_clean
  mount_volume mnt
  [ "$(get 70000 "${#text}")" = "$text" ] || die "$*: what was written is not there"
  stop_volume mnt
}
send() { kill "-$1" "$(daemon_of mnt)"; }
ends_clean "by SIGTERM" send TERM
ends_clean "by SIGINT" send INT
ends_clean "by fusermount" fusermount3 -u mnt
say "SIGTERM, SIGINT, fusermount3 -u"

# --foreground stays, and SIGINT ends it with status 0.
"$MDVOL_BIN" mount --foreground "${MEMBERS[@]}" mnt >foreground.out 2>&1 &
foreground=$!
wait_for 20 test -e "$volume" || die "--foreground: no volume: $(cat foreground.out)"
put "foreground" 100
kill -INT "$foreground"
status=0
wait "$foreground" || status=$?
[ "$status" = 0 ] || die "--foreground, SIGINT: exit $status: $(cat foreground.out)"
! is_mounted mnt || die "--foreground, SIGINT: still mounted"
examine_clean
say "foreground"

# ---- kill -9, and the mount that it leaves --------------------------------------------------------------------------
mount_volume mnt
daemon=$(daemon_of mnt)
put "before the kill" 200000
sync "$volume"
kill -KILL "$daemon"
wait_for 20 is_gone "$daemon" || die "kill -9: the daemon lives"
refuses 1 'mnt.*mount cleans up' "$MDVOL_BIN" detail mnt
# The mount is dead, and still there; the next one takes it away first.
is_mounted mnt || die "kill -9: the dead mount has gone by itself"
mdvol mount "${MEMBERS[@]}" mnt >mount.out 2>&1 </dev/null || die "mount over a dead mount: $(cat mount.out)"
[ "$(grep -cF " $CASE_DIR/mnt " /proc/self/mountinfo)" = 1 ] || die "mounted on top of the dead mount"
[ "$(get 200000 15)" = "before the kill" ] || die "after kill -9: what was synced is not there"
# A stop amid the resync would leave it dirty.
mdvol wait mnt >wait.out 2>&1 || die "after kill -9: wait: $(cat wait.out)"
stop_volume mnt
examine_clean
say "kill -9"

# ---- Read-only ------------------------------------------------------------------------------------------------------
# mount_read_only TEXT: reads TEXT at 200000, refuses writes, and changes not one byte of any member.
mount_read_only() {
  fingerprint "${MEMBERS[@]}" >before
  mount_volume mnt --read-only
  [ "$(get 200000 "${#1}")" = "$1" ] || die "read-only: reads other bytes"
  if put "must not be" 0 2>put.err; then die "read-only: a write was accepted"; fi
  grep -qiE 'read-only|permission|not permitted' put.err || die "read-only: $(cat put.err)"
  if fallocate --punch-hole --offset 0 --length 4096 "$volume" 2>/dev/null; then die "read-only: a hole was punched"; fi
  stop_volume mnt
  fingerprint "${MEMBERS[@]}" >after
  cmp before after || die "read-only: members have changed"
}
mount_read_only "before the kill"
mount_volume mnt
mdvol set mnt safe_mode_delay=0 || die "set safe_mode_delay=0"  # It would be clean again by the time of the kill.
put "dirty when killed" 200000
daemon=$(daemon_of mnt)
kill -KILL "$daemon"
wait_for 20 is_gone "$daemon"
fusermount3 -u mnt
mount_read_only "dirty when killed"
# Dirty, and a member gone: nobody can know which of data and parity is newer.
refuses 1 '--force' "$MDVOL_BIN" mount --run "${MEMBERS[@]:1}" mnt
MEMBERS=("${MEMBERS[@]:1}")
mount_volume mnt --read-only --run
stop_volume mnt
mount_volume mnt --run --force
mdvol wait mnt >wait.out 2>&1 || die "--force: wait: $(cat wait.out)"
stop_volume mnt
examine_members clean .AAAAA "${MEMBERS[@]}"
say "read-only, dirty, degraded"

# ---- Logs -----------------------------------------------------------------------------------------------------------
# A line is there a moment after its event; a log that takes nothing, be it full or a FIFO whose reader has stopped,
# stops nobody, and MNT/events has all that it lacks.
# Control files show no size, by which cmp -s would go.
same_text() { [ "$(cat "$1")" = "$(cat "$2")" ]; }
mount_volume mnt --run --log here.log
wait_for 5 same_text mnt/events here.log || die "--log: other lines than in MNT/events: $(cat here.log)"
stop_volume mnt
grep -q 'mounted: ' here.log || die "--log: $(cat here.log)"
mount_volume mnt --run --log /dev/full
put "the log is full" 300000
mdvol fail mnt d5.img || die "a log on a full disk: fail"
sync "$volume"
[ "$(get 300000 15)" = "the log is full" ] || die "a log on a full disk: reads other bytes"
grep -q 'd5\.img' mnt/events || die "a log on a full disk: events: $(cat mnt/events)"
stop_volume mnt
examine_members clean .AAAA. "${MEMBERS[@]:0:4}"
name_members 6
MEMBERS=("${MEMBERS[@]:1:4}")
mkfifo log.fifo
refuses 1 'log\.fifo.*nobody reads' "$MDVOL_BIN" mount --log log.fifo "${MEMBERS[@]}" mnt
sleep 1000 <>log.fifo &
reader=$!
mount_volume mnt --run --log log.fifo
for ((i = 0; i < 600; i++)); do
  echo check >mnt/md/sync_action 2>/dev/null || true
  echo idle >mnt/md/sync_action
done
timeout 20 cat mnt/status.json >/dev/null || die "a log that nobody reads: the control files stand still"
stop_volume mnt
kill "$reader"
refuses 2 'is the member' "$MDVOL_BIN" mount --run --log d1.img "${MEMBERS[@]}" mnt
refuses 2 'is the member' "$MDVOL_BIN" mount --run --read-only --log d1.img "${MEMBERS[@]}" mnt
say "logs"

# ---- Two mounts on one folder ---------------------------------------------------------------------------------------
mkdir -p race
for array in x y; do "$MDVOL_BIN" create --size 1M --chunk 64K race-${array}{0..3}.img >/dev/null; done
for ((i = 0; i < 20; i++)); do
  "$MDVOL_BIN" mount race-x?.img race 2>race-x.err &
  x=$!
  "$MDVOL_BIN" mount race-y?.img race 2>race-y.err &
  y=$!
  won=0
  if wait $x; then won=$((won + 1)); fi
  if wait $y; then won=$((won + 1)); fi
  [ "$won" = 1 ] || die "round $i: $won of two mounts on one folder: $(cat race-?.err)"
  cat race-?.err | grep -q 'mounted here already' || die "round $i: $(cat race-?.err)"
  stop_volume race
done
say "two mounts on one folder"

# ---- Failures that are reported -----------------------------------------------------------------------------------------
name_members 6
refuses 1 '/nonexistent/folder/log' "$MDVOL_BIN" mount --log /nonexistent/folder/log "${MEMBERS[@]:1}" mnt
refuses 1 'too few' "$MDVOL_BIN" mount "${MEMBERS[@]:1:2}" mnt
! daemon_of mnt >/dev/null || die "a mount that failed has left a daemon"
chmod 0 d3.img
if [ "$(id -u)" != 0 ]; then
  refuses 1 'd3\.img.*permission' "$MDVOL_BIN" mount "${MEMBERS[@]:1}" mnt
  # Only root, or a user whom /etc/fuse.conf allows it, may let others in.
  if ! grep -qE '^[[:space:]]*user_allow_other' /etc/fuse.conf 2>/dev/null; then
    chmod 644 d3.img
    refuses 1 'allow_other' "$MDVOL_BIN" mount -o allow_other "${MEMBERS[@]:1}" mnt
  fi
fi
chmod 644 d3.img
! is_mounted mnt || die "a mount that failed has left a mount"
say "failures"
