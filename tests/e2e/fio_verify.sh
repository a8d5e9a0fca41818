#!/bin/bash
# fio_verify.sh optimal|degraded|doubly|midrun: fio writes and checks crc32c on the volume: random and sequential,
# 512 bytes to 4 MiB, six jobs at once, with and without O_DIRECT; what was written before a member failed is checked
# again afterwards.
. "$(dirname "$0")/../support/case.sh"
. "$MDVOL_SOURCE/tests/support/volume.sh"
need_programs fio fusermount3
state=$1

rounds=1 mib=16 member_size=48M
if full_run; then rounds=3 mib=128 member_size=256M; fi

# run_fio DIRECT OPTION...
run_fio() {
  local direct=$1
  shift
  VOLUME=$CASE_DIR/mnt/volume DIRECT=$direct MIB=$mib timeout -k 5 600 fio --output=fio.out "$@" \
    "$MDVOL_SOURCE/examples/fio/verify.fio" 2>fio.err ||
    die "$state, direct=$direct $*: $(cat fio.err) $(grep -iE 'err|verify|bad' fio.out | head -n 20)"
}

# What fio has written without O_DIRECT it checks in the page cache. The second check is of the members: fio drops the
# pages of a file that it opens.
write_and_check() {
  local direct
  for direct in 0 1; do
    run_fio "$direct"
    from_members mnt run_fio "$direct" --verify_only
  done
}
check_again() { for direct in 0 1; do from_members mnt run_fio "$direct" --verify_only; done; }

fail_member() { mdvol fail mnt "$1" || die "mdvol fail mnt $1"; }

expect_degraded() {
  [ "$(cat mnt/md/degraded)" = "$1" ] || die "md/degraded is $(cat mnt/md/degraded), expected $1"
}

name_members 6
create_array "$member_size" --chunk 64K
mount_volume mnt

# while_fio_runs: a member fails in the middle of fio's writes, and another in the middle of its checks.
midrun() {
  local fio status=0
  : >started
  run_fio "$1" --loops=$((rounds * 2)) &
  fio=$!
  sleep "$2"
  is_alive "$fio" || die "fio was done before a member could be failed"
  fail_member "$3"
  wait "$fio" || status=$?
  [ "$status" = 0 ] || die "fio, with a member failed in the middle: exit $status"
}

for ((round = 0; round < rounds; round++)); do
  case $state in
    optimal) write_and_check ;;
    degraded | doubly)
      if [ "$round" = 0 ]; then
        write_and_check
        fail_member 1
        check_again
        if [ "$state" = doubly ]; then
          fail_member d4.img
          check_again
        fi
      fi
      write_and_check
      ;;
    midrun)
      if [ "$round" = 0 ]; then
        midrun 1 0.3 2
        expect_degraded 1
        midrun 0 0.3 5
        expect_degraded 2
      fi
      check_again
      ;;
    *) die "no such state: $state" ;;
  esac
  say "round $round"
done
case $state in
  optimal) expect_degraded 0 ;;
  degraded) expect_degraded 1 ;;
  *) expect_degraded 2 ;;
esac
stop_volume mnt
