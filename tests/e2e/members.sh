#!/bin/bash
# Members come and go under a mount: fail, remove, add, rebuild, re-add by the bitmap, replace, hot spares. After each
# step the volume reads right from the members, and from those that came in alone.
. "$(dirname "$0")/../support/case.sh"
. "$MDVOL_SOURCE/tests/support/volume.sh"
need_programs jq cmp mdadm

volume_bytes=$((32 * 1048576))
# equal_directly MOUNTPOINT WHAT: the volume holds what `image` does, read past the page cache.
equal_directly() {
  from_members "$1" cmp_directly "$1/volume" || die "$2: the volume differs"
}
cmp_directly() { dd if="$1" iflag=direct bs=1M status=none | cmp -n "$volume_bytes" - image; }
# put OFFSET LENGTH: random bytes into the volume and into `image`.
put() {
  head -c "$2" /dev/urandom >piece
  dd if=piece of=mnt/volume bs=64K seek="$1" oflag=seek_bytes conv=notrunc,fsync status=none
  dd if=piece of=image bs=64K seek="$1" oflag=seek_bytes conv=notrunc status=none
}
status() { jq -r "$1" mnt/status.json; }
expect() { [ "$(status "$1")" = "$2" ] || die "$1 is $(status "$1"), expected $2: $(cat mnt/mdstat)"; }
written() { awk -v name="$1" '$1 == name { print $8 }' mnt/iostat; }
wait_done() { mdvol wait mnt >wait.out 2>&1 || die "wait: $(cat wait.out)"; }

name_members 6
create_array 8M --chunk 64K --bitmap-chunk 64K
mount_volume mnt
truncate -s "$volume_bytes" image
put 0 "$volume_bytes"

# ---- fail, remove, add: a rebuild --------------------------------------------------------------------------------
refuses 1 'in use' "$MDVOL_BIN" remove mnt d1.img
mdvol fail mnt d1.img
mdvol remove mnt d1.img
[ ! -e mnt/md/dev-d1.img ] || die "d1.img is still there after remove"
put 100000 300000
truncate -s 20M new1.img
mdvol add mnt new1.img || die "add"
wait_done
expect .degraded 0
[ "$(cat mnt/md/dev-new1.img/slot)" = 1 ] || die "new1.img is not in slot 1"
[ "$(cat mnt/md/dev-new1.img/state)" = in_sync ] || die "new1.img: $(cat mnt/md/dev-new1.img/state)"
[ "$(cat mnt/md/last_sync_action)" = recover ] || die "last action: $(cat mnt/md/last_sync_action)"
equal_directly mnt "after a rebuild"
grep -q 'recover done' mnt/events || die "no event of the rebuild: $(cat mnt/events)"
say "rebuild"

# ---- re-add: the bitmap knows what was missed --------------------------------------------------------------------
# First the bits of all that came before have to grow old.
mdvol set mnt bitmap/time_base=1
wait_for 30 grep -q 'bitmap: 0/' mnt/mdstat || die "the bits stay: $(cat mnt/mdstat)"
mdvol fail mnt d2.img
put 7000000 200000
mdvol re-add mnt d2.img || die "re-add"
wait_done
expect .degraded 0
copied=$(written d2.img)  # It is opened anew, and counted from there.
[ "$copied" -le $((2 * 1048576)) ] || die "re-add has copied $copied bytes: more than what was missed"
equal_directly mnt "after a re-add"
say "re-add ($copied bytes)"

# ---- what re-add and add refuse ----------------------------------------------------------------------------------
mdvol fail mnt d3.img
truncate -s 20M blank.img
refuses 1 'blank\.img' "$MDVOL_BIN" re-add mnt blank.img
truncate -s 1M small.img
refuses 1 'small\.img' "$MDVOL_BIN" add mnt small.img
refuses 1 'already' "$MDVOL_BIN" add mnt d0.img
refuses 1 'nowhere\.img' "$MDVOL_BIN" add mnt nowhere.img
mkfs.ext4 -q -F blank.img
refuses 1 'blank\.img.*ext4' "$MDVOL_BIN" add mnt blank.img
# The volume, by every way there, of this array and of another: nothing may wait for itself.
ln -s mnt/volume to_volume
ln -s "$CASE_DIR" to_here
before=$(written d0.img)
for path in mnt/volume to_volume "$CASE_DIR/to_here/mnt/volume" mnt/md/../volume mnt/mdstat; do
  refuses 1 'in the mount of an array' "$MDVOL_BIN" add mnt "$path"
done
refuses 1 'in the mount of an array' bash -c 'cd mnt && exec "$0" add . volume' "$MDVOL_BIN"
[ "$(written d0.img)" = "$before" ] || die "a volume that was refused as a member was written to"
refuses 1 'in the mount of an array' "$MDVOL_BIN" create --force -z 1M x0.img x1.img x2.img mnt/volume
[ ! -e x0.img ] || die "create was refused, and has made x0.img"
mkdir -p mnt2
refuses 1 'in the mount of an array' "$MDVOL_BIN" mount mnt/volume x1.img x2.img x3.img mnt2
mdvol create --raid-devices 4 --size 16M other0.img other1.img other2.img other3.img >/dev/null
refuses 1 'other0\.img' "$MDVOL_BIN" add mnt other0.img
# A faulty member whose file cannot be opened stays listed.
mv d3.img away.img
refuses 1 'd3\.img: no such file' "$MDVOL_BIN" add mnt d3.img
expect '[.members[] | select(.role == "faulty") | .name] | join(" ")' d3.img
mv away.img d3.img
mdvol re-add mnt d3.img
wait_done
expect .degraded 0
say "refusals"

# ---- a path behind a symbolic link is the file that the kernel opens ---------------------------------------------------
mkdir -p elsewhere/inner
ln -s elsewhere/inner link
for file in elsewhere/here.img here.img; do truncate -s 20M $file; done
mdvol add mnt link/../here.img
expect '[.members[] | select(.name == "here.img") | .path] | join(" ")' "$CASE_DIR/link/../here.img"
[ "$(stat -c %b here.img)" = 0 ] || die "add link/../here.img has written into ./here.img"
[ "$(stat -c %b elsewhere/here.img)" != 0 ] || die "add link/../here.img has not written into elsewhere/here.img"
mdvol remove mnt link/../here.img
say "behind a link"

# ---- replace -----------------------------------------------------------------------------------------------------
truncate -s 20M spare4.img
mdvol add mnt spare4.img
[ "$(cat mnt/md/dev-spare4.img/state)" = spare ] || die "spare4.img: $(cat mnt/md/dev-spare4.img/state)"
mdvol replace mnt d4.img spare4.img || die "replace"
wait_done
expect .degraded 0
[ "$(cat mnt/md/dev-spare4.img/slot)" = 4 ] || die "spare4.img is not in slot 4: $(cat mnt/mdstat)"
[ "$(cat mnt/md/dev-d4.img/state)" = faulty ] || die "d4.img: $(cat mnt/md/dev-d4.img/state)"
equal_directly mnt "after a replacement"
# Its place has been taken; a refusal leaves it as it was.
refuses 1 'd4\.img.*has its place' "$MDVOL_BIN" re-add mnt d4.img
[ "$(cat mnt/md/dev-d4.img/state)" = faulty ] || die "a refused re-add: d4.img: $(cat mnt/md/dev-d4.img/state)"
say "replace"

# ---- a hot spare starts by itself; two rebuilds at once ------------------------------------------------------------
truncate -s 20M hot0.img hot5.img
mdvol remove mnt d4.img
mdvol add mnt hot0.img hot5.img
mdvol fail mnt d0.img d5.img
wait_done
expect .degraded 0
equal_directly mnt "after two hot spares"
say "hot spares"

# ---- a paused rebuild: what lies beyond the checkpoint is never served ------------------------------------------------
head -c 20M /dev/zero | tr '\0' '\252' >poison.img
mdvol set mnt sync_max=8192
mdvol fail mnt d2.img
mdvol add mnt poison.img
is_paused() { [ "$(cat mnt/md/sync_completed)" = "8192 / 16384" ]; }
wait_for 20 is_paused || die "the rebuild does not wait at sync_max: $(cat mnt/md/sync_completed)"
[ "$(cat mnt/md/sync_action)" = recover ] || die "paused: $(cat mnt/md/sync_action)"
[ "$(cat mnt/md/dev-poison.img/slot)" = 2 ] || die "poison.img is not in slot 2"
put 12345678 1000000
readers=()
for shift in 0 512 4096 65024; do
  (
    for round in 1 2 3; do
      dd if=mnt/volume iflag=direct,skip_bytes skip=$shift bs=$((round * 65536)) status=none |
        cmp -n $((volume_bytes - shift)) - <(tail -c +$((shift + 1)) image) || exit 1
    done
  ) &
  readers+=($!)
done
for reader in "${readers[@]}"; do wait "$reader" || die "a paused rebuild has served what it should not"; done
mdvol set mnt sync_max=max
wait_done
expect .degraded 0
equal_directly mnt "after a paused rebuild"
mdvol remove mnt d2.img
say "a paused rebuild"

# ---- all of it is on the members ---------------------------------------------------------------------------------
stop_volume mnt
MEMBERS=(hot0.img new1.img poison.img d3.img spare4.img hot5.img)
examine_members clean AAAAAA "${MEMBERS[@]}"
MEMBERS=(hot0.img new1.img spare4.img hot5.img)
mount_volume mnt --run --read-only
equal_directly mnt "from those that came in alone"
stop_volume mnt
say "read from the new members alone"

# ---- a refused re-add changes nothing ------------------------------------------------------------------------------------
name_members 6 n
create_array 4M --chunk 64K --bitmap none
mount_volume mnt
mdvol fail mnt n1.img
refuses 1 'n1\.img: cannot be re-added: .*no bitmap' "$MDVOL_BIN" re-add mnt n1.img
mv n1.img away.img
refuses 1 'n1\.img.*no such file' "$MDVOL_BIN" re-add mnt 1
[ "$(cat mnt/md/dev-n1.img/state)" = faulty ] || die "a refused re-add: n1.img: $(cat mnt/md/dev-n1.img/state)"
mv away.img n1.img
if echo re-add >mnt/md/dev-n1.img/state 2>store.err; then die "a re-add without a bitmap was taken"; fi
grep -q 'Invalid argument' store.err || die "a re-add without a bitmap: $(cat store.err)"
[ "$(cat mnt/md/dev-n1.img/state)" = faulty ] || die "a refused re-add: n1.img: $(cat mnt/md/dev-n1.img/state)"
mdvol add mnt n1.img || die "add, after a refused re-add"
wait_done
expect .degraded 0
stop_volume mnt
say "a refused re-add"

# ---- a third failure: EIO soon, no hang, no revival ---------------------------------------------------------------------
name_members 6 t
create_array 4M --chunk 64K
mount_volume mnt
mdvol fail mnt t0.img t1.img
mdvol set mnt 'dev-t2.img/fault=kind = "eio", op = "any"'
SECONDS=0
if dd if=image of=mnt/volume bs=1M count=4 oflag=direct conv=notrunc status=none 2>dd.err; then die "a third loss was not noticed"; fi
grep -q 'Input/output error' dd.err || die "a third loss: $(cat dd.err)"
[ "$SECONDS" -lt 10 ] || die "EIO came after $SECONDS s"
[ "$(cat mnt/md/array_state)" = broken ] || die "array_state: $(cat mnt/md/array_state)"
truncate -s 8M blank2.img
refuses 1 'blank2\.img|lost more than two' "$MDVOL_BIN" add mnt blank2.img
[ "$(cat mnt/md/array_state)" = broken ] || die "a blank member has revived it: $(cat mnt/md/array_state)"
[ "$(cat mnt/md/sync_action)" = idle ] || die "sync_action of a broken array: $(cat mnt/md/sync_action)"
refuses 1 'lost' "$MDVOL_BIN" stop mnt
say "a third failure"
