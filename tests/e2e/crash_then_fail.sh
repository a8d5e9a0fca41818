#!/bin/bash
# An unclean stop, and then a member fails before parity has been recomputed: what a lost chunk was cannot be told from
# parity in doubt, so the resync cannot end; the spare takes the member's place all the same, and the resync ends after it.
. "$(dirname "$0")/../support/case.sh"
. "$MDVOL_SOURCE/tests/support/volume.sh"
need_programs jq mdadm

name_members 6
create_array 32M --chunk 64K --bitmap internal
mkdir mnt
mount_volume mnt
on_exit drop_mount "$CASE_DIR/mnt"
volume=$CASE_DIR/mnt/volume
mdvol set mnt safe_mode_delay=0
dd if=/dev/urandom of="$volume" bs=1M count=100 conv=notrunc,fsync status=none
before=$(sha1sum <"$volume")
daemon=$(daemon_of mnt)
kill -KILL "$daemon"
wait_for 20 is_gone "$daemon" || die "kill -9: the daemon lives"

printf '[array]\nmembers = ["d0.img", "d1.img", "d2.img", "d3.img", "d4.img", "d5.img"]\n' >slow.toml
printf '[sync]\nspeed_min = "4K"\nspeed_max = "4K"\n' >>slow.toml
mdvol mount --config slow.toml mnt >mount.out 2>&1 </dev/null || die "mount: $(cat mount.out)"
grep -q 'resync =' mnt/mdstat || die "no resync after kill -9: $(cat mnt/mdstat)"
mdvol fail mnt d1.img
truncate -s 33M spare.img
mdvol add mnt spare.img
mdvol set mnt sync_speed_max=1000000
wait_for 60 grep -q 'rebuilt' mnt/events || die "the spare is not put to use: $(cat mnt/mdstat mnt/events)"
mdvol wait mnt >wait.out 2>&1 || die "wait: $(cat wait.out)"
grep -q 'resync incomplete' mnt/events || die "the resync was through before the member failed: $(cat mnt/events)"
[ "$(cat mnt/md/degraded)" = 0 ] || die "degraded: $(cat mnt/mdstat)"
[ "$(sha1sum <"$volume")" = "$before" ] || die "other bytes than before the crash"
mdvol check mnt
mdvol wait mnt >wait.out 2>&1 || die "check: $(cat wait.out)"
[ "$(cat mnt/md/mismatch_cnt)" = 0 ] || die "mismatch_cnt: $(cat mnt/md/mismatch_cnt)"
stop_volume mnt
for member in d0.img d{2..5}.img spare.img; do
  mdadm -E "$member" | grep -q 'State : clean' || die "$member: $(mdadm -E "$member")"
done
say "a member lost before the resync has ended"
