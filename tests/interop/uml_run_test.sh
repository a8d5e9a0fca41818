#!/bin/bash
# The runner itself: a runner that says 0 when its script failed would make every test of interop worthless.
. "$(dirname "$0")/../support/case.sh"

# expect_status STATUS NAME ARGUMENT...: runs uml-run on the script NAME (standard input); output goes to NAME.out.
expect_status() {
  local expected=$1 name=$2 status=0
  shift 2
  cat >"$name"
  uml_run "$@" "$name" >"$name.out" 2>"$name.err" || status=$?
  [ "$status" = "$expected" ] || die "$name: exit $status, expected $expected: $(cat "$name.out" "$name.err")"
}

no_guest_left() {
  local process
  for process in /proc/[0-9]*; do
    if [ "$(readlink "$process/cwd" 2>/dev/null)" = "$CASE_DIR" ] &&
      tr '\0' ' ' <"$process/cmdline" 2>/dev/null | grep -q '^linux\.uml '; then
      die "a process of a guest is left: ${process#/proc/}"
    fi
  done
}

(
  export GUEST_TEXT="two words \$HOME"
  expect_status 0 passes <<'GUEST'
[ "$GUEST_TEXT" = 'two words $HOME' ]
[ "$(pwd)" = /run/out ]
grep -q raid6 /proc/mdstat
[ "$(cat /sys/module/md_mod/parameters/start_ro)" = N ] || [ "$(cat /sys/module/md_mod/parameters/start_ro)" = 0 ]
! touch /etc/mdvol-must-stay-read-only 2>/dev/null
echo written by the guest >from-guest
truncate -s 1M loop-a loop-b
attach_loops loops loop-a loop-b
for device in $loops; do printf 'x' | dd of="$device" bs=1 seek=5000 conv=notrunc status=none; done
detach_loops $loops
echo all said
GUEST
) &
passes=$!
expect_status 7 fails <<'GUEST'
echo before
exit 7
GUEST
wait "$passes" || die "two guests side by side: the first failed"
[ "$(cat passes.out)" = "all said" ] || die "output of the guest: $(cat passes.out)"
[ "$(cat fails.out)" = before ] || die "output of the guest that exits 7: $(cat fails.out)"
[ "$(cat from-guest)" = "written by the guest" ] || die "what the guest wrote is not here"
[ "$(dd if=loop-b bs=1 skip=5000 count=1 status=none)" = x ] || die "what went through a loop device is not here"
say "status, output, variables, writable folder, loop devices"

(expect_status 124 hangs -t 6 <<<'echo started; sleep 1000') &
hangs=$!
expect_status 125 panics -t 60 <<<'echo c >/proc/sysrq-trigger; sleep 1000'
wait "$hangs" || die "the guest that hangs"
[ "$(cat hangs.out)" = started ] || die "output before the time limit: $(cat hangs.out)"
grep -q 'Kernel panic' panics.err || die "the console of a guest that died is not shown: $(cat panics.err)"
no_guest_left
say "time limit, panic"

# What the tests of interop rely on: check_array and an error in the middle of a function are seen.
expect_status 1 canary <<'GUEST' &
canary() {
  truncate -s 4M member0 member1 member2 member3
  attach_loops loops member0 member1 member2 member3
  mdadm --quiet --create /dev/md0 --run --level=6 --raid-devices=4 --chunk=64 --size=1024 --bitmap=internal $loops
  wait_whole md0
  check_array md0
  echo sound
  stop_array md0
  printf x | dd of=/dev/loop1 bs=1 seek=1500000 conv=notrunc,fsync status=none
  mdadm --quiet --assemble /dev/md0 $loops
  now canary
  check_array md0
  stop_array md0
}
canary
GUEST
canary=$!
expect_status 1 first-error <<<'false; echo not reached' &
error=$!
images=()
for i in {1..16}; do truncate -s "$((i + 1))M" "image$i"; images+=("image$i"); done
cat >sixteen <<'GUEST'
for letter in a b c d e f g h i j k l m n o p; do blockdev --getsize64 "/dev/ubd$letter"; done
GUEST
uml_run sixteen "${images[@]}" >sixteen.out || die "16 images: $(cat sixteen.out)"
[ "$(cat sixteen.out)" = "$(seq 2097152 1048576 17825792)" ] || die "sizes of 16 images: $(cat sixteen.out)"
wait "$error" || die "a command that fails must end the guest script"
[ ! -s first-error.out ] || die "the script went on after an error: $(cat first-error.out)"
wait "$canary" || die "a wrong byte must fail check_array and the script"
grep -q '^sound$' canary.out && grep -q 'mismatch_cnt is [1-9]' canary.out || die "canary: $(cat canary.out)"
status=0
uml_run sixteen "${images[@]}" image1 2>too-many.err || status=$?
[ "$status" = 125 ] && grep -q 'ubd driver has' too-many.err || die "17 images: $status, $(cat too-many.err)"
say "16 images, no more"
