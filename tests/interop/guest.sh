# shellcheck shell=bash
# What guest scripts use; uml-run sources it before the script. The script starts with `set -eu` on: the first command
# that fails ends it, and its status becomes uml-run's.
#
# Never write `some_function || …` or `if some_function` where the function's own commands must end it at their first
# error: bash switches `set -e` off in there. Say where you are with `now` instead.
set -eu

# now TEXT: what the script is at; printed, with md's state, when it ends by an error.
now() { guest_now=$*; }
guest_now=
guest_ends() {
  local status=$?
  [ "$status" = 0 ] || [ -z "$guest_now" ] || {
    echo "status $status at: $guest_now"
    cat /proc/mdstat
    dmesg | tail -n 15
  }
  exit "$status"
}
trap guest_ends EXIT

# attach_loops VARIABLE FILE...: a loop device for each file; their names, blank-separated, go to VARIABLE.
attach_loops() {
  local variable=$1 file device devices=
  shift
  for file in "$@"; do
    device=$(losetup --find --show "$file")
    devices="$devices $device"
  done
  printf -v "$variable" '%s' "${devices# }"
}

# detach_loops DEVICE...: also waits until the files have every byte.
detach_loops() {
  sync
  losetup --detach "$@"
}

# md_value MD ATTRIBUTE: what /sys says of /dev/MD.
md_value() { cat "/sys/block/$1/md/$2"; }

# wait_idle MD [SECONDS]: until no resync, recovery or check runs, and none is about to.
wait_idle() {
  local md=$1 ticks=$((${2:-60} * 20))
  while [ "$(md_value "$md" sync_action)" != idle ]; do
    ticks=$((ticks - 1))
    if [ "$ticks" -le 0 ]; then
      echo "$md: $(md_value "$md" sync_action) does not end"
      cat /proc/mdstat
      return 1
    fi
    sleep 0.05
  done
}

# wait_whole MD [SECONDS]: until every member is in sync and no resync is left. (sync_action alone would not do: it says
# idle until md's thread has seen that there is work.)
wait_whole() {
  local md=$1 ticks=$((${2:-60} * 20))
  until [ "$(md_value "$md" degraded)" = 0 ] && [ "$(md_value "$md" resync_start)" = none ] &&
    [ "$(md_value "$md" sync_action)" = idle ]; do
    ticks=$((ticks - 1))
    if [ "$ticks" -le 0 ]; then
      echo "$md: still $(md_value "$md" sync_action), $(md_value "$md" degraded) degraded," \
        "resync_start $(md_value "$md" resync_start)"
      cat /proc/mdstat
      return 1
    fi
    sleep 0.05
  done
}

# check_array MD: the kernel reads every stripe and compares P and Q; fails unless all agree.
check_array() {
  local md=$1 count
  wait_idle "$md"
  echo check >"/sys/block/$md/md/sync_action"
  wait_idle "$md"
  if [ "$(md_value "$md" last_sync_action)" != check ]; then
    echo "$md: the check did not run (last action: $(md_value "$md" last_sync_action))"
    return 1
  fi
  count=$(md_value "$md" mismatch_cnt)
  if [ "$count" != 0 ]; then
    echo "$md: mismatch_cnt is $count after check, not 0"
    return 1
  fi
}

# stop_array MD: clean, as mdadm stops it.
stop_array() {
  local tries=0
  until mdadm --quiet --stop "/dev/$1"; do
    tries=$((tries + 1))
    [ "$tries" -lt 40 ] || return 1
    sleep 0.05
  done
}
