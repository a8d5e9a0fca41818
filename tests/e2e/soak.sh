#!/bin/bash
# Soak: while writers write and check what they read, members fail, leave, come back by the bitmap or as blanks, are
# replaced, spares take over, checks and repairs run; the daemon is killed and started again, while writers write when
# the array is whole (what was synced must be there), and between two of them when it is degraded (then with --force:
# a dirty, degraded array may lose what was being written). No wrong byte, nothing hangs; at the end the kernel takes
# the array over, reads the same, and its check finds no mismatch.
#
# What happens when is drawn from the seed, which is printed, and every step is printed as it is taken:
# MDVOL_TEST_SEED takes the same decisions again, though threads may fall in with each other otherwise.
# MDVOL_TEST_SOAK_SECONDS says how long (40; MDVOL_TEST_FULL: 3600).
. "$(dirname "$0")/../support/case.sh"
. "$MDVOL_SOURCE/tests/support/volume.sh"
need_programs jq cmp mdadm linux.uml fusermount3

soak_seconds=40
if full_run; then soak_seconds=3600; fi
soak_seconds=${MDVOL_TEST_SOAK_SECONDS:-$soak_seconds}
test_seed soak
RANDOM=$((seed & 0x7fffffff))

raid_disks=6
pool=(d0.img d1.img d2.img d3.img d4.img d5.img d6.img d7.img)
declare -A taken=()  # how often each step did what it is for
note() { taken[$1]=$((${taken[$1]:-0} + 1)); }
step() { say "  $*" | tee -a steps; }

# ---- What there is ------------------------------------------------------------------------------------------------
state_of() { cat "mnt/md/dev-$1/state" 2>/dev/null || echo absent; }
degraded() { cat mnt/md/degraded; }
# draw WORD...: one of them, in `drawn`; fails when there is none. ($RANDOM must not be asked in a subshell.)
draw() {
  [ "$#" -gt 0 ] || return 1
  local at=$((RANDOM % $# + 1))
  drawn=${!at}
}
# draw_member STATE...: a file of the pool in one of these states (the first word of it), in `drawn`.
draw_member() {
  local name state
  local -a fitting=()
  for name in "${pool[@]}"; do
    state=$(state_of "$name")
    case " $* " in *" ${state%%,*} "*) fitting+=("$name") ;; esac
  done
  draw "${fitting[@]}"
}
expect_alive() {
  local daemon
  daemon=$(daemon_of mnt) || die "the daemon has died: $(tail -n 20 steps)"
  is_alive "$daemon" || die "the daemon is dying: $(tail -n 20 steps)"
}
# try NAME COMMAND...: a verb that may be refused, for what it is about changes under it; it says so and ends soon.
try() {
  local name=$1 status=0
  shift
  mdvol "$@" >try.out 2>&1 </dev/null || status=$?
  [ "$status" -lt 2 ] || die "mdvol $*: exit $status: $(cat try.out)"
  if [ "$status" = 0 ]; then note "$name"; else note "$name-refused"; fi
  step "$* -> $status $(head -c 150 try.out)"
}

# ---- Steps -----------------------------------------------------------------------------------------------------------
fail_one() {
  [ "$(degraded)" -lt 2 ] || return 0
  draw_member in_sync || return 0
  try fail fail mnt "$drawn"
}
remove_one() { if draw_member faulty; then try remove remove mnt "$drawn"; fi; }
return_one() {
  draw_member faulty || draw_member absent || return 0
  [ ! -e "$drawn" ] || try re-add re-add mnt "$drawn"
}
add_blank() {
  draw_member absent || return 0
  rm -f "$drawn"
  truncate -s 24M "$drawn"
  try add add mnt "$drawn"
}
replace_one() { if draw_member in_sync; then try replace replace mnt "$drawn"; fi; }
run_check() { try check check mnt; }
run_repair() { try repair repair mnt; }
change_speed() {
  draw 2000 20000 200000 2000000
  try speed set mnt "sync_speed_max=$drawn"
}
random_step() {
  draw fail_one fail_one remove_one return_one return_one add_blank add_blank replace_one run_check run_repair \
    change_speed
  "$drawn"
}

make_whole() {
  local tries=0
  mdvol set mnt sync_speed_max=2000000
  while :; do
    mdvol wait mnt >wait.out 2>&1 || die "wait: $(cat wait.out)"
    [ "$(degraded)" != 0 ] || break
    tries=$((tries + 1))
    [ "$tries" -lt 30 ] || die "the array does not become whole: $(cat mnt/mdstat; tail -n 20 mnt/events)"
    if draw_member faulty; then try remove remove mnt "$drawn"; fi
    add_blank
    sleep 0.2
  done
}

kill_daemon() {
  local daemon
  daemon=$(daemon_of mnt) || die "no daemon to kill"
  kill -KILL "$daemon"
  wait_for 20 is_gone "$daemon" || die "the daemon lives after kill -9"
}
# Every file that was ever a member may be given: what is out of date is left out.
mount_again() {
  local name
  fusermount3 -u -q mnt 2>/dev/null || true
  MEMBERS=()
  for name in "${pool[@]}"; do
    if [ -e "$name" ] && mdadm --examine "$name" >/dev/null 2>&1; then MEMBERS+=("$name"); fi
  done
  mount_volume mnt --run "$@"
}
verify() {
  # Past the page cache, then through it.
  exerciser verify mnt/volume shadow --access direct >verify.out 2>&1 || die "$1: $(cat verify.out)"
  exerciser verify mnt/volume shadow --access buffered >verify.out 2>&1 || die "$1: $(cat verify.out)"
}

# ---- Rounds ----------------------------------------------------------------------------------------------------------
# Steps while writers write, every byte compared afterwards; then on, stopped, or killed while nobody writes.
busy_round() {
  local writer status=0
  exerciser write mnt/volume shadow --members "$raid_disks" --chunk 65536 --operations 3000 --jobs 3 --read-percent 30 \
    --seed-name "soak-$seed-$1" >writer.out 2>&1 &
  writer=$!
  while is_alive "$writer"; do
    random_step
    sleep "0.$((RANDOM % 20 + 100))"
    [ $((SECONDS - round_began)) -lt 120 ] || die "round $1: the writers hang: $(cat mnt/mdstat)"
  done
  wait "$writer" || status=$?
  [ "$status" = 0 ] || die "round $1: the writers: exit $status: $(cat writer.out)"
  expect_alive
  verify "round $1"
  case $((RANDOM % 4)) in
    0)
      step "stop"
      stop_volume mnt
      mount_again
      note stop
      ;;
    1 | 2)
      sync mnt/volume
      step "kill, $(degraded) degraded, nobody writing"
      kill_daemon
      mount_again --force
      note kill-between
      ;;
  esac
  verify "round $1, at its end"
}

# Killed while writers write to a whole array.
crash_round() {
  local writer status=0
  make_whole
  cp shadow shadow.latest
  rm -f shadow.progress
  exerciser crash mnt/volume shadow --members "$raid_disks" --chunk 65536 --jobs 3 --seed-name "soak-$seed-$1" \
    >writer.out 2>&1 &
  writer=$!
  wait_for 60 test -s shadow.progress || die "round $1: no fsync has returned: $(cat writer.out)"
  draw run_check run_repair replace_one true
  "$drawn"
  sleep "0.$((RANDOM % 7))"
  step "kill while writing"
  kill_daemon
  wait "$writer" || status=$?
  [ "$status" = 0 ] || die "round $1: the writers: exit $status: $(cat writer.out)"
  mount_again
  exerciser verify-crash mnt/volume shadow >verify.out 2>&1 || die "round $1, after the kill: $(cat verify.out)"
  note kill-writing
  verify "round $1, at its end"
}

name_members "$raid_disks"
MEMBERS=("${pool[@]:0:raid_disks}")
create_array 16M --chunk 64K --bitmap-chunk 64K
truncate -s $((4 * 16 * 1048576)) shadow
mount_volume mnt
mdvol set mnt bitmap/time_base=1
for ((round = 0; SECONDS < soak_seconds; round++)); do
  round_began=$SECONDS
  if [ $((round % 3)) = 2 ]; then crash_round "$round"; else busy_round "$round"; fi
  say "round $round: $(tr '\n' ' ' <mnt/mdstat | head -c 300)"
done

# ---- The end ---------------------------------------------------------------------------------------------------------
make_whole
mdvol check mnt >check.out 2>&1 || die "check: $(cat check.out)"
mdvol wait mnt >wait.out 2>&1 || die "wait: $(cat wait.out)"
[ "$(cat mnt/md/mismatch_cnt)" = 0 ] || die "mismatch_cnt is $(cat mnt/md/mismatch_cnt) at the end"
verify "at the end"
mkdir soak
mv shadow soak/shadow
for ((slot = 0; slot < raid_disks; slot++)); do
  for name in "${pool[@]}"; do
    if [ "$(state_of "$name")" != absent ] && [ "$(cat "mnt/md/dev-$name/slot")" = "$slot" ] &&
      [[ $(state_of "$name") == in_sync* ]]; then
      ln "$name" "soak/$slot.img"
    fi
  done
  [ -e "soak/$slot.img" ] || die "nobody is in slot $slot: $(cat mnt/mdstat)"
done
stop_volume mnt
echo "soak $raid_disks internal -" >cases  # ID MEMBERS BITMAP LOST
uml_run -t 180 "$MDVOL_SOURCE/tests/interop/mdvol_to_kernel.guest.sh" >guest.out 2>&1 ||
  die "the guest: $(tail -n 60 guest.out)"
say "$round rounds; the kernel reads the same and finds no mismatch"
for name in "${!taken[@]}"; do echo "$name ${taken[$name]}"; done | sort
