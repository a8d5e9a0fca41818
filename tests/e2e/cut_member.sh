#!/bin/bash
# A member image is cut short from outside while the array is mounted: what was cut off must never read as zeroes that
# nobody wrote, nor be folded into parity, and the file must not grow again. The member fails as a dead disk does.
. "$(dirname "$0")/../support/case.sh"
. "$MDVOL_SOURCE/tests/support/volume.sh"
need_programs jq cmp mdadm

cut_bytes=$((3 * 1048576))
volume_bytes=$((32 * 1048576))
cmp_directly() { dd if=mnt/volume iflag=direct bs=1M status=none | cmp -n "$volume_bytes" - image; }
# put OFFSET LENGTH: random bytes into the volume and into `image`.
put() {
  head -c "$2" /dev/urandom >piece
  dd if=piece of=mnt/volume bs=64K seek="$1" oflag=seek_bytes conv=notrunc,fsync status=none
  dd if=piece of=image bs=64K seek="$1" oflag=seek_bytes conv=notrunc status=none
}
is_out() { [ "$(cat "mnt/md/dev-$1/state")" = faulty ]; }
expect_out() {
  is_out "$1" || die "$2: $1 is $(cat "mnt/md/dev-$1/state"): $(cat mnt/events)"
  [ "$(stat -c %s "$1")" = "$cut_bytes" ] || die "$2: $1 has grown to $(stat -c %s "$1") bytes"
}

name_members 6
create_array 8M --chunk 64K
mount_volume mnt
truncate -s "$volume_bytes" image
put 0 "$volume_bytes"

# ---- found by a read ------------------------------------------------------------------------------------------------
truncate -s "$cut_bytes" d1.img
cmp_directly || die "cut, then read: the volume differs"
put 5000000 3000000
expect_out d1.img "cut, then read"
cmp_directly || die "cut, read and written: the volume differs"
say "found by a read"

# ---- found by a write, of which every byte lies behind the new end ---------------------------------------------------
truncate -s "$cut_bytes" d4.img
put $((volume_bytes - 4000000)) 3000000
expect_out d4.img "cut, then written"
cmp_directly || die "cut, then written: the volume differs"
say "found by a write"

# ---- and it was never part of anything: all of it comes back from the others ---------------------------------------
mdvol remove mnt d1.img
mdvol remove mnt d4.img
truncate -s 20M new1.img new4.img
mdvol add mnt new1.img new4.img || die "add"
mdvol wait mnt >wait.out 2>&1 || die "wait: $(cat wait.out)"
[ "$(cat mnt/md/degraded)" = 0 ] || die "still degraded: $(cat mnt/mdstat)"
mdvol check mnt
mdvol wait mnt
[ "$(cat mnt/md/mismatch_cnt)" = 0 ] || die "mismatch_cnt $(cat mnt/md/mismatch_cnt)"
cmp_directly || die "after the rebuild: the volume differs"
stop_volume mnt
examine_members clean AAAAAA d0.img new1.img d2.img d3.img new4.img d5.img
say "rebuilt from the others"
