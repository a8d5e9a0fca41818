# shellcheck shell=bash disable=SC2086,SC2154
# Guest of rebuild_both_ways.sh. The file `task` says what is to be done with which members:
#   finish LIMIT_SECTORS NEW FILE...   the kernel goes on with the rebuild of NEW, and writes no more than so much to it
#   begin NEW FILE...                  the kernel begins to rebuild NEW, and is stopped half-way
read -r -a task <task

written_sectors() { awk '{ print $7 }' "/sys/block/${1#/dev/}/stat"; }

finish() {
  local limit=$1 loops list before after
  shift
  attach_loops loops "$@"  # NEW is the first
  read -r -a list <<<"$loops"
  before=$(written_sectors "${list[0]}")
  now "assembling"
  mdadm --quiet --assemble --run /dev/md0 $loops
  now "going on with the rebuild"
  wait_whole md0 120
  sync
  after=$(written_sectors "${list[0]}")
  now "the kernel has written $((after - before)) sectors to the new member, at most $limit were left"
  [ $((after - before)) -le "$limit" ]
  [ $((after - before)) -ge $((limit / 4)) ]
  now "comparing"
  echo 3 >/proc/sys/vm/drop_caches
  cmp /dev/md0 shadow
  now "check"
  check_array md0
  stop_array md0
  detach_loops $loops
}

half_done() {
  local done total
  read -r done _ total <<<"$(md_value md0 sync_completed)"
  [ "$done" != none ] && [ -n "$total" ] && [ $((2 * done)) -ge "$total" ]
}

begin() {
  local loops list ticks=1200
  attach_loops loops "$@"
  read -r -a list <<<"$loops"
  now "assembling without the first"
  mdadm --quiet --assemble --run /dev/md0 "${list[@]:1}"
  echo 100 >/sys/block/md0/md/sync_speed_min
  echo 4000 >/sys/block/md0/md/sync_speed_max
  now "beginning to rebuild"
  mdadm --quiet /dev/md0 --add "${list[0]}"
  until half_done; do
    ticks=$((ticks - 1))
    [ "$ticks" -gt 0 ]
    sleep 0.05
  done
  now "stopping half-way"
  [ "$(md_value md0 sync_action)" = recover ]
  stop_array md0
  detach_loops $loops
}

"${task[@]}"
