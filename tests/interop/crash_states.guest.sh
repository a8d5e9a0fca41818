# shellcheck shell=bash disable=SC2086,SC2154
# Guest of crash_states.sh: what the kernel makes of each line of states/states (tests/crash/state_dump.h).

# settle: until nothing runs and nothing is about to. An array that has spares for its open slots rebuilds by itself.
settle() {
  local ticks=1200
  until [ "$(md_value md0 sync_action)" = idle ] && [ "$(md_value md0 resync_start)" = none ]; do
    ticks=$((ticks - 1))
    [ "$ticks" -gt 0 ] || return 1
    sleep 0.05
  done
}

# compare FOLDER: the array reads as FOLDER/volume, but for the atoms of 512 bytes that FOLDER/open names. (`cmp -l` counts
# bytes from 1.)
compare() {
  local wrong
  wrong=$({ cmp -l /dev/md0 "$1/volume" || true; } | awk 'FILENAME != "-" { open[$1] = 1; next }
    !(int(($1 - 1) / 512) in open) { print "byte " $1 - 1 " differs"; exit }' "$1/open" -)
  if [ -n "$wrong" ]; then
    echo "$1: $wrong"
    return 1
  fi
}

run_state() {
  local name=$1 scenario=$2 disks=$3 how=$4 parity=$5 loops disk
  local -a files=() options=(--run)
  for disk in ${disks//,/ }; do files+=("states/$name/$disk.img"); done
  attach_loops loops "${files[@]}"
  if [ "$how" = force ]; then options+=(--force); fi
  now "$name, $scenario: assembling, $how"
  mdadm --quiet --assemble "${options[@]}" /dev/md0 $loops
  now "$name, $scenario: resync or recovery"
  settle
  now "$name, $scenario: comparing"
  compare "states/$name"
  if [ "$parity" = sound ] && [ "$(md_value md0 degraded)" -lt 2 ]; then
    now "$name, $scenario: check"
    check_array md0
  fi
  now "$name, $scenario: stopping"
  stop_array md0
  detach_loops $loops
}

count=0
while read -r line; do
  run_state $line
  count=$((count + 1))
done <states/states
echo "the kernel has assembled $count crash states"
