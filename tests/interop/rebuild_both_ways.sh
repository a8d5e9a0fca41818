#!/bin/bash
# A rebuild that one side has begun and left half-way is finished by the other from where it stands: mdvol begins and
# the kernel goes on, then the kernel begins and mdvol goes on. How much is written to the new member shows that nobody
# starts over; the bytes are right and a check finds no mismatch.
. "$(dirname "$0")/../support/case.sh"
. "$MDVOL_SOURCE/tests/support/volume.sh"
need_programs mdadm linux.uml fusermount3

component_sectors=65536
slack_sectors=4096  # superblocks, bitmap, and what is under way when a rebuild is stopped

# checkpoint FILE: the sectors that are rebuilt, by its superblock.
checkpoint() { mdadm --examine "$1" | sed -n 's/^ *Recovery Offset : \([0-9]*\) sectors$/\1/p'; }
expect_half() {
  local at
  at=$(checkpoint "$1")
  [ -n "$at" ] || die "$2: no recovery offset in $1: $(mdadm --examine "$1")"
  [ "$at" -ge $((component_sectors / 4)) ] && [ "$at" -lt $((component_sectors * 15 / 16)) ] ||
    die "$2: the recovery offset is $at of $component_sectors"
  left_sectors=$((component_sectors - at))
}
half_done() {
  local done total
  read -r done _ total <mnt/md/sync_completed
  [ "$done" != none ] && [ -n "$total" ] && [ $((2 * done)) -ge "$total" ]
}
in_guest() {
  echo "$*" >task
  uml_run -t 240 "$MDVOL_SOURCE/tests/interop/rebuild_both_ways.guest.sh" >guest.out 2>&1 ||
    die "the guest, $1: $(tail -n 60 guest.out)"
}
equal() { cmp mnt/volume shadow || die "$1: the volume differs"; }

for bitmap in none internal; do
  rm -f -- *.img
  name_members 6
  create_array 32M --chunk 64K --bitmap "$bitmap"
  mount_volume mnt
  exerciser pattern shadow $((4 * component_sectors * 512)) --seed-name "both-ways-$bitmap"
  dd if=shadow of=mnt/volume bs=1M conv=notrunc,fsync status=none

  # ---- mdvol begins, the kernel finishes ---------------------------------------------------------------------------
  mdvol fail mnt d1.img
  mdvol remove mnt d1.img
  truncate -s 40M new1.img
  mdvol set mnt sync_speed_min=100
  mdvol set mnt sync_speed_max=4000
  mdvol add mnt new1.img || die "add"
  wait_for 60 half_done || die "$bitmap: the rebuild does not get on: $(cat mnt/mdstat)"
  stop_volume mnt
  expect_half new1.img "$bitmap, mdvol has begun"
  in_guest finish $((left_sectors + slack_sectors)) new1.img d0.img d2.img d3.img d4.img d5.img
  say "$bitmap: the kernel has finished what mdvol had begun, the last $left_sectors sectors"

  # ---- the kernel begins, mdvol finishes ---------------------------------------------------------------------------
  truncate -s 40M new2.img
  in_guest begin new2.img d0.img new1.img d3.img d4.img d5.img
  expect_half new2.img "$bitmap, the kernel has begun"
  MEMBERS=(d0.img new1.img new2.img d3.img d4.img d5.img)
  mount_volume mnt --run
  mdvol wait mnt >wait.out 2>&1 || die "$bitmap: wait: $(cat wait.out)"
  [ "$(cat mnt/md/degraded)" = 0 ] || die "$bitmap: degraded after the rebuild: $(cat mnt/mdstat)"
  written=$(awk '$1 == "new2.img" { print $8 }' mnt/iostat)
  [ "$written" -le $(((left_sectors + slack_sectors) * 512)) ] && [ "$written" -ge $((left_sectors * 128)) ] ||
    die "$bitmap: mdvol has written $written bytes to new2.img where $left_sectors sectors were left"
  equal "$bitmap, the kernel has begun"
  mdvol check mnt
  mdvol wait mnt >wait.out 2>&1 || die "$bitmap: wait: $(cat wait.out)"
  [ "$(cat mnt/md/mismatch_cnt)" = 0 ] || die "$bitmap: mismatch_cnt $(cat mnt/md/mismatch_cnt)"
  stop_volume mnt
  examine_members clean AAAAAA "${MEMBERS[@]}"
  MEMBERS=(d0.img new1.img new2.img d3.img)  # what was rebuilt counts
  mount_volume mnt --run --read-only
  equal "$bitmap, two members left out"
  stop_volume mnt
  say "$bitmap: mdvol has finished what the kernel had begun, the last $left_sectors sectors"

  # ---- What each side has rebuilt is what was compared: one wrong bit of it is seen ----------------------------------
  for new in new1.img new2.img; do
    for offset in 2000000 34000000; do  # near the start and the end of the data
      flip_bit "$new" "$offset"
      mount_volume mnt --run --read-only
      if cmp -s mnt/volume shadow; then die "$bitmap: a wrong bit at $offset of $new was not seen"; fi
      stop_volume mnt
      flip_bit "$new" "$offset"
    done
  done
done
