# shellcheck shell=bash disable=SC2154
# For soak.sh: what there is, and single steps: a member fails, leaves, comes back, …. Which, is drawn from $RANDOM.
# The script that sources this has set `raid_disks` and `pool`, the files that may be members.

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

# ---- Longer ones -----------------------------------------------------------------------------------------------------
wait_sync() { mdvol wait mnt >wait.out 2>&1 || die "wait: $(cat wait.out)"; }

make_whole() {
  local tries=0
  mdvol set mnt sync_speed_max=2000000
  while :; do
    wait_sync
    [ "$(degraded)" != 0 ] || break
    tries=$((tries + 1))
    [ "$tries" -lt 30 ] || die "the array does not become whole: $(cat mnt/mdstat; tail -n 20 mnt/events)"
    if draw_member faulty; then try remove remove mnt "$drawn"; fi
    add_blank
    sleep 0.2
  done
}

# check_all: a check of the whole array finds nothing.
check_all() {
  mdvol check mnt >check.out 2>&1 || die "check: $(cat check.out)"
  wait_sync
  [ "$(cat mnt/md/mismatch_cnt)" = 0 ] || die "a check finds mismatch_cnt $(cat mnt/md/mismatch_cnt)"
}

kill_daemon() {
  local daemon
  daemon=$(daemon_of mnt) || die "no daemon to kill"
  kill -KILL "$daemon"
  wait_for 20 is_gone "$daemon" || die "the daemon lives after kill -9"
}
# Every file that was ever a member may be given: what is out of date is left out.
name_all_members() {
  local name
  fusermount3 -u -q mnt 2>/dev/null || true
  MEMBERS=()
  for name in "${pool[@]}"; do
    if [ -e "$name" ] && mdadm --examine "$name" >/dev/null 2>&1; then MEMBERS+=("$name"); fi
  done
}
mount_again() {
  name_all_members
  mount_volume mnt --run "$@"
}

# verify WHEN: every byte. Past the page cache, then through it.
verify() {
  exerciser verify mnt/volume shadow --access direct >verify.out 2>&1 || die "$1: $(cat verify.out)"
  exerciser verify mnt/volume shadow --access buffered >verify.out 2>&1 || die "$1: $(cat verify.out)"
}
