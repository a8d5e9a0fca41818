#!/bin/bash
# Mount options that let others in, and what those may do: on real mounts, with real other users.
. "$(dirname "$0")/../support/case.sh"
. "$MDVOL_SOURCE/tests/support/volume.sh"
need_root "being several users"
need_programs fusermount3 setpriv
user=${MDVOL_TEST_USER:-mdvol-test}
getent passwd "$user" >/dev/null || die "there is no user $user; tests/install-packages.sh test makes it"
# The executable may lie where others cannot read it.
chmod 755 "$CASE_DIR"
cp "$MDVOL_BIN" mdvol
as_other=(setpriv --reuid "$user" --regid "$(id -g "$user")" --init-groups)

name_members 4
create_array 4M --chunk 64K
on_exit drop_mount "$CASE_DIR/mnt"
options_of() { grep -F " $CASE_DIR/mnt " /proc/self/mountinfo; }

mount_volume mnt
! "${as_other[@]}" cat mnt/mdstat >/dev/null 2>&1 || die "another user can enter a plain mount"
refuses 1 'be the user who mounted it' "${as_other[@]}" ./mdvol stop "$CASE_DIR/mnt"
stop_volume mnt

mount_volume mnt -o allow_other
options_of | grep -q allow_other || die "allow_other: $(options_of)"
"${as_other[@]}" cat mnt/mdstat >mdstat.out || die "allow_other: another user cannot enter"
grep -q '\[UUUU\]' mdstat.out || die "allow_other: mdstat: $(cat mdstat.out)"
! "${as_other[@]}" head -c 1 mnt/volume >/dev/null 2>&1 || die "allow_other: mode 0600, and another user reads the volume"
refuses 1 'cannot be set' "${as_other[@]}" ./mdvol set "$CASE_DIR/mnt" rmw_level=2
refuses 1 'mounted by user 0: only that user or root' "${as_other[@]}" ./mdvol stop "$CASE_DIR/mnt"
is_mounted mnt || die "another user has stopped it"
stop_volume mnt

mount_volume mnt -o allow_root
options_of | grep -q allow_other || die "allow_root: $(options_of)"
stop_volume mnt

printf '[volume]\nuid = %s\ngid = %s\nmode = 0o640\nname = "image"\n' "$(id -u "$user")" "$(id -g "$user")" >array.toml
mdvol mount --config array.toml -o allow_other "${MEMBERS[@]}" mnt || die "mount --config"
[ "$(stat -c '%U %a' mnt/image)" = "$user 640" ] || die "uid, mode: $(stat -c '%U %a' mnt/image)"
[ "$(stat -c '%u' mnt/md/level)" = 0 ] || die "control files do not belong to who mounted"
"${as_other[@]}" dd if=/dev/urandom of=mnt/image bs=4K count=1 conv=notrunc status=none || die "its owner cannot write the volume"
refuses 1 'only that user or root' "${as_other[@]}" ./mdvol stop "$CASE_DIR/mnt"
mdvol stop mnt || die "stop"
examine_members clean AAAA "${MEMBERS[@]}"

# The other way round: root stops what an ordinary user has mounted and lets root into.
if grep -qE '^[[:space:]]*user_allow_other' /etc/fuse.conf 2>/dev/null; then
  chown "$user" "${MEMBERS[@]}" mnt
  "${as_other[@]}" ./mdvol mount -o allow_root "${MEMBERS[@]}" "$CASE_DIR/mnt" || die "mount by $user"
  mdvol stop mnt || die "stop by root"
fi
