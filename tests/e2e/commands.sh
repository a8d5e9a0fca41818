#!/bin/bash
# The commands as a user types them: create and what mdadm says of it, examine, detail, status, map both ways, get, set,
# fail, policies.
. "$(dirname "$0")/../support/case.sh"
. "$MDVOL_SOURCE/tests/support/volume.sh"
need_programs mdadm jq fusermount3
uuid=01234567:89abcdef:02468ace:13579bdf

# ---- create, as mdadm sees it -----------------------------------------------------------------------------------
# says MEMBER FIELD VALUE: mdadm --examine prints exactly this.
says() {
  mdadm --examine "$1" | sed 's/^ *//' >examine.out
  grep -qxF "$2 : $3" examine.out || die "$1: expected '$2 : $3' in: $(cat examine.out)"
}
for metadata in 1.0 1.1 1.2; do
  name_members 5 "v$metadata-"
  create_array 3M --chunk 16K --layout right-symmetric-6 --metadata "$metadata" --name box --uuid "$uuid"
  for slot in 0 4; do
    says "${MEMBERS[slot]}" Version "$metadata"
    says "${MEMBERS[slot]}" "Array UUID" "$uuid"
    says "${MEMBERS[slot]}" "Raid Devices" 5
    says "${MEMBERS[slot]}" Layout right-symmetric-6
    says "${MEMBERS[slot]}" "Chunk Size" 16K
    says "${MEMBERS[slot]}" "Device Role" "Active device $slot"
    says "${MEMBERS[slot]}" State clean
    grep -qE '^Name : ([^ ]*:)?box( |$)' examine.out || die "name: $(grep Name examine.out)"
    grep -qE '^Array Size : 9216 KiB ' examine.out || die "size: $(grep Size examine.out)"
    grep -qE '^Bad Block Log : 512 entries available' examine.out || die "no bad-block log: $(cat examine.out)"
    grep -qE '^Internal Bitmap : ' examine.out || die "no bitmap: $(cat examine.out)"
  done
  examine_members clean AAAAA "${MEMBERS[@]}"
  # Sparse but for the metadata.
  [ "$(du -c --block-size=1024 "${MEMBERS[@]}" | tail -1 | cut -f 1)" -lt 4096 ] || die "the images are not sparse"
done
name_members 4 nobitmap
create_array 3M --bitmap none
mdadm --examine "${MEMBERS[0]}" >examine.out
if grep -q 'Internal Bitmap' examine.out; then die "--bitmap none has made one"; fi
say "create"

# ---- create refuses what would lose data --------------------------------------------------------------------------
fingerprint "${MEMBERS[@]}" >before
refuses '[12]' 'nobitmap0\.img' "$MDVOL_BIN" create --raid-devices 4 "${MEMBERS[@]}"
truncate -s 8M filesystem.img
mkfs.ext4 -q -F filesystem.img
refuses '[12]' 'filesystem\.img.*ext4' "$MDVOL_BIN" create --raid-devices 4 --size 3M --assume-clean n1.img n2.img n3.img filesystem.img
fingerprint "${MEMBERS[@]}" >after
cmp -s before after || die "a create that was refused has changed members"
mdvol create --force --assume-clean --raid-devices 4 "${MEMBERS[@]}" >create.out 2>&1 || die "create --force: $(cat create.out)"
mdadm --examine "${MEMBERS[3]}" >examine.out || die "create --force: $(cat examine.out)"
say "create over what is there"

# ---- examine --------------------------------------------------------------------------------------------------------
name_members 6
create_array 4M --chunk 64K
# field NAME FILE: the value that a line "NAME : value" has.
field() { sed -n "s/^ *$1 : //p" "$2" | head -n 1; }
for member in "${MEMBERS[@]}"; do
  mdvol examine "$member" >ours || die "examine: $(cat ours)"
  mdadm --examine "$member" >theirs
  for name in Version 'Array UUID' 'Raid Level' 'Raid Devices' State 'Device UUID' Events Layout 'Chunk Size' 'Device Role'; do
    [ "$(field "$name" ours)" = "$(field "$name" theirs)" ] ||
      die "$member, $name: mdvol says '$(field "$name" ours)', mdadm '$(field "$name" theirs)'"
  done
done
mdvol examine --json "${MEMBERS[@]}" >examine.json || die "examine --json"
jq -e . examine.json >/dev/null || die "examine --json is no JSON: $(cat examine.json)"
say "examine"

# ---- map: what it says is where the bytes are -----------------------------------------------------------------------
# The words of a line "volume OFF LEN stripe S member NAME slot K offset MOFF role ROLE" after a word.
word_after() { sed -n "s/.*\\b$1 \\([^ ]*\\).*/\\1/p" <<<"$2"; }
mount_volume mnt
offsets=(0 1 65535 65536 262144 1000000 5555555 16777215)
for offset in "${offsets[@]}"; do printf 'Z' | dd of=mnt/volume bs=1 seek="$offset" conv=notrunc status=none; done
mdvol map mnt --offset 65530+20 >map.out || die "map of a range"
[ "$(grep -c 'role data' map.out)" = 2 ] || die "20 bytes across two chunks are two extents: $(cat map.out)"
for offset in "${offsets[@]}"; do mdvol map mnt --offset "$offset" >"map.$offset" || die "map --offset $offset"; done
stop_volume mnt
for offset in "${offsets[@]}"; do
  line=$(grep 'role data' "map.$offset") || die "map of $offset: $(cat "map.$offset")"
  grep -q 'role P' "map.$offset" && grep -q 'role Q' "map.$offset" || die "map of $offset names no P and Q"
  member=$(word_after member "$line") member_offset=$(word_after offset "$line")
  [ "$(dd if="$CASE_DIR/$member" bs=1 skip="$member_offset" count=1 status=none)" = Z ] ||
    die "map of $offset: the byte is not there: $line"
  mdvol map "${MEMBERS[@]}" --offset "$offset" | cmp - "map.$offset" || die "map of members differs from map of a mount"
  back=$(mdvol map "${MEMBERS[@]}" --member "$member" --offset "$member_offset") || die "map --member"
  [ "$(word_after volume "$back")" = "$offset" ] || die "map of $offset and back: $back"
done
say "map"

# ---- missing: a slot that nobody fills -----------------------------------------------------------------------------------
name_members 6 m
MEMBERS[1]=missing MEMBERS[4]=missing
create_array 4M --chunk 64K
[ ! -e missing ] || die "create has made a file of the word missing"
grep -q 'degraded by 2' create.out || die "create with two missing: $(cat create.out)"
examine_members clean A.AA.A m0.img m2.img m3.img m5.img
refuses '[12]' 'missing' "$MDVOL_BIN" create --raid-devices 6 --size 4M n0.img missing n2.img missing n4.img missing
for file in n?.img; do [ ! -e "$file" ] || die "a create that was refused has left $file"; done
# Without --run: nobody is missing who was there last time. The word may stand in mount, too.
mount_volume mnt
exerciser pattern image $((4 * 4 * 1048576))
dd if=image of=mnt/volume bs=1M conv=notrunc,fsync status=none
[ "$(cat mnt/md/degraded)" = 2 ] || die "two missing: degraded: $(cat mnt/md/degraded)"
mdvol status mnt | grep -q '\[6/4\] \[U_UU_U\]' || die "two missing: status: $(mdvol status mnt)"
mdvol map mnt --offset 0+256K >map.out || die "two missing: map"
[ "$(grep -cE 'member missing slot [14] offset -' map.out)" = 2 ] || die "two missing: map: $(cat map.out)"
stop_volume mnt
MEMBERS=("$CASE_DIR"/m?.img)
mount_volume mnt
cmp mnt/volume image || die "two missing: the volume reads other bytes"
stop_volume mnt
say "missing"

# ---- Live verbs -------------------------------------------------------------------------------------------------------
name_members 6
mount_volume mnt
[ "$(mdvol get mnt raid_disks)" = 6 ] || die "get raid_disks"
[ "$(mdvol get mnt chunk_size)" = 65536 ] || die "get chunk_size"
[ "$(mdvol get mnt layout)" = 2 ] || die "get layout: $(mdvol get mnt layout)"
[ "$(mdvol get mnt metadata_version)" = 1.2 ] || die "get metadata_version"
mdvol set mnt rmw_level=0 || die "set rmw_level=0"
[ "$(cat mnt/md/rmw_level)" = 0 ] || die "rmw_level is $(cat mnt/md/rmw_level)"
refuses 1 'rmw_level' "$MDVOL_BIN" set mnt rmw_level=77
refuses 1 'no_such_name' "$MDVOL_BIN" get mnt no_such_name
refuses '[12]' 'rmw_level.*NAME=VALUE' "$MDVOL_BIN" set mnt rmw_level
[ "$(cat mnt/md/rmw_level)" = 0 ] || die "a value that was refused has taken effect"
mdvol detail mnt | grep -qE '^ *Raid Level : raid6$' || die "detail: $(mdvol detail mnt)"
mdvol detail --json mnt | jq -e '.uuid and (.state == "clean" or .state == "active")' >/dev/null || die "detail --json"
mdvol status mnt | grep -q '\[6/6\] \[UUUUUU\]' || die "status: $(mdvol status mnt)"
# A member by path, by name and by slot; failing it again is no error.
mdvol fail mnt "${MEMBERS[1]}" || die "fail by path"
mdvol fail mnt 1 || die "fail again, by slot"
mdvol fail mnt d4.img || die "fail by name"
[ "$(cat mnt/md/degraded)" = 2 ] || die "degraded: $(cat mnt/md/degraded)"
refuses 1 'd0\.img|slot 0|member 0' "$MDVOL_BIN" fail mnt 0
refuses '[12]' '99' "$MDVOL_BIN" fail mnt 99
mdvol status mnt | grep -q '\[6/4\] \[U_UU_U\]' || die "status: $(mdvol status mnt)"
grep -q 'd1\.img' mnt/events && grep -q 'd4\.img' mnt/events || die "events: $(cat mnt/events)"
jq -e '.degraded == 2' mnt/status.json >/dev/null || die "status.json: $(cat mnt/status.json)"
stop_volume mnt
examine_members clean A.AA.A d0.img d2.img d3.img d5.img
mdvol policies | grep -q 'degraded_read' || die "policies: $(mdvol policies)"
mdvol --help >/dev/null || die "--help"
say "live verbs"
