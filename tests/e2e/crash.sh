#!/bin/bash
# kill -9 during writes: everything that was fsynced is there after the next mount, and the real md driver agrees. For
# each kind of bitmap: mdvol mounts again and the kernel checks the result; and the kernel takes over directly.
. "$(dirname "$0")/../support/case.sh"
. "$MDVOL_SOURCE/tests/support/volume.sh"
need_programs mdadm linux.uml fusermount3

rounds=2
if full_run; then rounds=25; fi
test_seed crash-kill-times
RANDOM=$((seed & 0x7fffffff))

# crash_once ID: mounts, writes with several threads, kills the daemon in the middle.
crash_once() {
  local id=$1 writer daemon status=0 delay=0.$((RANDOM % 5))$((RANDOM % 10))
  mount_volume mnt
  rm -f "$id.progress"
  exerciser crash mnt/volume "$id" --members 6 --chunk 65536 --jobs 3 --seed-name "$id-$2" >writer.out 2>&1 &
  writer=$!
  wait_for 30 has_synced "$id.progress" || die "$id: no fsync has returned: $(cat writer.out)"
  sleep "$delay"
  daemon=$(daemon_of mnt)
  kill -KILL "$daemon"
  wait "$writer" || status=$?
  [ "$status" = 0 ] || die "$id: the writer: exit $status: $(cat writer.out)"
  wait_for 20 is_gone "$daemon" || die "$id: the daemon lives after kill -9"
  fusermount3 -u mnt 2>/dev/null || true
  say "$id: killed $delay s after the first fsync, after $(wc -l <"$id.progress") of them"
}
has_synced() { [ -s "$1" ]; }

name_case() {
  MEMBERS=()
  for slot in {0..5}; do MEMBERS+=("$CASE_DIR/$1.$slot.img"); done
}

for bitmap in internal none; do
  for heir in mdvol kernel; do
    id=$bitmap-$heir
    name_case "$id"
    create_array 8M --chunk 64K --bitmap "$bitmap"
    for ((round = 0; round < rounds; round++)); do
      crash_once "$id" "$round"
      if [ "$round" != $((rounds - 1)) ] || [ "$heir" = mdvol ]; then
        mount_volume mnt
        exerciser verify-crash mnt/volume "$id" || die "$id: what was fsynced is not there"
        mdvol wait mnt >wait.out 2>&1 || die "$id: wait: $(cat wait.out)"
        stop_volume mnt
        examine_members clean AAAAAA "${MEMBERS[@]}"
      fi
    done
  done
done

# What the kernel makes of all four: it resyncs what was left dirty, finds no mismatch, and its bytes go to ID.kernel.
cat >agree <<'GUEST'
for id in internal-mdvol none-mdvol internal-kernel none-kernel; do
  now "$id"
  attach_loops loops "$id".?.img
  mdadm --quiet --assemble /dev/md0 $loops
  wait_whole md0
  check_array md0
  dd if=/dev/md0 of="$id.kernel" bs=1M status=none
  stop_array md0
  detach_loops $loops
done
GUEST
uml_run -t 180 agree >guest.out 2>&1 || die "the kernel: $(tail -n 30 guest.out)"
for bitmap in internal none; do
  exerciser verify-crash "$bitmap-mdvol.kernel" "$bitmap-mdvol" || die "$bitmap: the kernel reads other bytes than mdvol"
  # The first comparison has made the shadow exactly what mdvol read; here it is still two-valued.
  exerciser verify-crash "$bitmap-kernel.kernel" "$bitmap-kernel" || die "$bitmap: to the kernel, fsynced bytes are gone"
  name_case "$bitmap-kernel"
  mount_volume mnt
  exerciser verify mnt/volume "$bitmap-kernel" || die "$bitmap: mdvol reads other bytes than the kernel"
  stop_volume mnt
done
say "the kernel agrees"
