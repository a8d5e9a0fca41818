#!/bin/bash
# filesystem.sh ext4|xfs buffered|direct: a file system on a loop device on the volume: made, filled with a tree,
# unmounted, checked; the same again with two members lost; and everything is there after the next mount.
. "$(dirname "$0")/../support/case.sh"
. "$MDVOL_SOURCE/tests/support/volume.sh"
need_root "attaching loop devices"
need_programs losetup "mkfs.$1" fusermount3
kind=$1 access=$2
grep -qw "$kind" /proc/filesystems || modprobe "$kind" || die "this kernel has no $kind"

# 4 x 96 MiB: xfs wants 300 MiB.
member_size=96M copies=1
if full_run; then member_size=512M copies=12; fi

loop=
attach() {
  local options=(--find --show)
  if [ "$access" = direct ]; then options+=(--direct-io=on); fi
  loop=$(losetup "${options[@]}" mnt/volume) || die "losetup ${options[*]}"
  on_exit detach_own "$loop"
  if [ "$access" = direct ]; then
    [ "$(cat "/sys/block/${loop#/dev/}/loop/dio")" = 1 ] || die "$loop does no direct I/O on the volume"
  fi
}

on_exit umount -q "$CASE_DIR/fs"
mkdir fs

check_filesystem() {
  case $kind in
    ext4) e2fsck -fn "$loop" >fsck.out 2>&1 || die "e2fsck: $(tail -n 20 fsck.out)" ;;
    xfs) xfs_repair -n "$loop" >fsck.out 2>&1 || die "xfs_repair: $(tail -n 20 fsck.out)" ;;
  esac
}

# copy_tree NAME: the tree, synced, into the file system; then unmounted and checked.
copy_tree() {
  local i
  mount -t "$kind" "$loop" fs
  for ((i = 0; i < copies; i++)); do cp -a tree "fs/$1$i"; done
  sync -f fs
  umount fs
  check_filesystem
}

# compare_trees NAME...: what lies in the file system is what was copied there.
compare_trees() {
  local name i
  mount -t "$kind" "$loop" fs
  for name in "$@"; do
    for ((i = 0; i < copies; i++)); do diff -r tree "fs/$name$i" >diff.out 2>&1 || die "$name: $(head -n 5 diff.out)"; done
  done
  umount fs
}

# Many small files, some large ones, a sparse one, links.
mkdir -p tree/small
exerciser pattern tree/large 20000000 --seed-name tree
for i in {1..300}; do
  dd if=tree/large of="tree/small/$i" bs=97 skip=$((i * 31)) count=$((i * 3)) status=none
done
truncate -s 5M tree/sparse
ln tree/small/7 tree/hard
ln -s small/8 tree/symbolic

name_members 6
create_array "$member_size" --chunk 64K
mount_volume mnt
attach
mkfs."$kind" -q "$loop" >mkfs.out 2>&1 || die "mkfs.$kind: $(cat mkfs.out)"
copy_tree whole
compare_trees whole
say "$kind, $access: whole"

mdvol fail mnt 0
mdvol fail mnt 3
# Written just now, and still in the page cache: compare_trees would read nothing from the four members that are left.
forget_pages mnt/volume
from_members mnt compare_trees whole
copy_tree degraded
forget_pages mnt/volume
from_members mnt compare_trees degraded
mount -t "$kind" "$loop" fs
rm -rf fs/whole0/small
fstrim fs
umount fs
check_filesystem
compare_trees degraded
say "$kind, $access: two members lost"

# While a loop device holds it, stop must refuse and do no harm.
refuses 1 'mnt.*(busy|use|open)' "$MDVOL_BIN" stop mnt
compare_trees degraded
losetup --detach "$loop"
stop_volume mnt
MEMBERS=("${MEMBERS[@]:1:2}" "${MEMBERS[@]:4:2}")
mount_volume mnt --run
attach
check_filesystem
compare_trees degraded
losetup --detach "$loop"
stop_volume mnt
say "$kind, $access: mounted again with four of six"
