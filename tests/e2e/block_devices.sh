#!/bin/bash
# Members that are block devices: made, mounted, written, examined; held against a second opener; and images are refused
# while a loop device is on them.
. "$(dirname "$0")/../support/case.sh"
. "$MDVOL_SOURCE/tests/support/volume.sh"
need_root "attaching loop devices"
need_programs losetup mdadm fusermount3

IMAGES=() DEVICES=()
for i in {0..5}; do
  truncate -s 6M "disk$i"
  IMAGES+=("$CASE_DIR/disk$i")
  DEVICES+=("$(losetup --find --show "disk$i")")
  on_exit detach_own "${DEVICES[i]}"
done
mkdir mnt other

# Fresh devices may hold anything: their parity is computed first, unless the user vouches for them.
MEMBERS=("${DEVICES[@]}")
mdvol create --raid-devices 6 --chunk 64K --assume-clean --size 4M "${MEMBERS[@]}" >create.out 2>&1 ||
  die "create on block devices: $(cat create.out)"
mount_volume mnt
exerciser write mnt/volume shadow --members 6 --chunk 65536 --operations 200 --jobs 3 >exerciser.out 2>&1 ||
  die "$(cat exerciser.out)"
refuses 1 '/dev/loop[0-9]+.*(held|lock|use|busy)' "$MDVOL_BIN" mount "${DEVICES[@]}" other
# O_EXCL holds: the kernel itself would not mount or assemble what mdvol has.
if mount -t ext4 "${DEVICES[0]}" other 2>mount.err; then die "a held block device could be mounted"; fi
grep -qiE 'busy|already mounted' mount.err || die "mounting a held block device: $(cat mount.err)"
mdvol fail mnt "${DEVICES[2]}" || die "fail by the path of a block device"
exerciser write mnt/volume shadow --members 6 --chunk 65536 --operations 200 --jobs 3 >exerciser.out 2>&1 ||
  die "$(cat exerciser.out)"
# What is made of the volume is no place for its members: a loop device on it.
loop=$(losetup --find --show mnt/volume)
on_exit detach_own "$loop"
refuses 1 'on the volume .*/mnt,' "$MDVOL_BIN" add mnt "$loop"
losetup --detach "$loop"
stop_volume mnt
examine_members clean AA.AAA "${DEVICES[@]:0:2}" "${DEVICES[@]:3:3}"
say "block devices"

# The same bytes through the images, but not while the loop devices are there.
refuses 1 'disk[0-5].*loop' "$MDVOL_BIN" mount --run "${IMAGES[@]}" mnt
sync
losetup --detach "${DEVICES[@]}"
MEMBERS=("${IMAGES[@]}")
mount_volume mnt --run
exerciser verify mnt/volume shadow || die "the images read otherwise than the block devices"
stop_volume mnt
say "images behind loop devices"
