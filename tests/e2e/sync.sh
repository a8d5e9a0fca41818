#!/bin/bash
# check, repair, resync, idle, freeze and wait under a mount: what is wrong on a member is named and mended, a check on
# a healthy array writes nothing, actions begin and end at once however often.
. "$(dirname "$0")/../support/case.sh"
. "$MDVOL_SOURCE/tests/support/volume.sh"
need_programs jq cmp

status() { jq -r "$1" mnt/status.json; }
wait_done() { mdvol wait mnt >wait.out 2>&1 || die "wait: $(cat wait.out)"; }
run_action() {
  mdvol "$1" mnt || die "$1"
  wait_done
}

name_members 6
create_array 16M --chunk 64K
head -c 64M /dev/urandom >image
mount_volume mnt
dd if=image of=mnt/volume bs=1M conv=notrunc status=none

# ---- a healthy array -----------------------------------------------------------------------------------------------
sync mnt/volume
run_action check
[ "$(cat mnt/md/mismatch_cnt)" = 0 ] || die "a healthy array has mismatch_cnt $(cat mnt/md/mismatch_cnt)"
[ "$(cat mnt/md/last_sync_action)" = check ] || die "last action: $(cat mnt/md/last_sync_action)"
stop_volume mnt
fingerprint "${MEMBERS[@]}" >before
say "a healthy array"

# ---- one wrong member: named, mended ---------------------------------------------------------------------------------
# Byte 5 of lane 2 of stripe 7 on member 3: at the data offset (1 MiB) + 7 chunks + 2 lanes.
at=$((1048576 + 7 * 65536 + 2 * 4096 + 5))
printf '\xff\x00\xff' | dd of=d3.img bs=1 seek=$at conv=notrunc status=none
mount_volume mnt
run_action check
[ "$(cat mnt/md/mismatch_cnt)" = 8 ] || die "one wrong lane: mismatch_cnt $(cat mnt/md/mismatch_cnt)"
[ "$(status '.located | length')" = 1 ] || die "located: $(status .located)"
[ "$(status '.located[0] | "\(.stripe) \(.lane) \(.lanes) \(.member) \(.repaired)"')" = "7 2 1 d3.img false" ] ||
  die "located: $(status .located)"
run_action repair
[ "$(status '.located[0].repaired')" = true ] || die "not repaired: $(status .located)"
run_action check
[ "$(cat mnt/md/mismatch_cnt)" = 0 ] || die "after repair: mismatch_cnt $(cat mnt/md/mismatch_cnt)"
# The page cache held what was read before the repair; now it must not.
cmp mnt/volume image || die "after repair the volume differs"
stop_volume mnt
sha1sum "${MEMBERS[@]}" | cut -d ' ' -f 1 >after.sums
say "one wrong lane"

# ---- what a reader has cached of wrong bytes goes with the repair -----------------------------------------------------
printf '\xff\x00\xff' | dd of=d3.img bs=1 seek=$at conv=notrunc status=none
mount_volume mnt
read -r offset kind < <(mdvol map "${MEMBERS[@]}" --member d3.img --offset $at 2>/dev/null |
  sed -n 's/^volume \([0-9]*\) .* role \(.*\)$/\1 \2/p' || true)
cat mnt/volume >/dev/null
run_action repair
wait_for 5 cmp -s mnt/volume image || die "the page cache still has what was repaired (volume offset ${offset:-?}, ${kind:-?})"
stop_volume mnt
say "page cache"

# ---- two wrong members: reported, left alone ---------------------------------------------------------------------------
for member in d1.img d4.img; do printf 'wrong' | dd of=$member bs=1 seek=$at conv=notrunc status=none; done
mount_volume mnt
run_action repair
[ "$(status '.located[0] | "\(.kind) \(.member) \(.repaired)"')" = "several null false" ] || die "located: $(status .located)"
run_action check
[ "$(cat mnt/md/mismatch_cnt)" = 8 ] || die "two wrong members: mismatch_cnt $(cat mnt/md/mismatch_cnt)"
mdvol set mnt repair_mode=parity
run_action repair
run_action check
[ "$(cat mnt/md/mismatch_cnt)" = 0 ] || die "repair_mode parity: mismatch_cnt $(cat mnt/md/mismatch_cnt)"
say "two wrong members"

# ---- words, limits, busy ---------------------------------------------------------------------------------------------
mdvol set mnt sync_speed_max=100
mdvol check mnt
[ "$(cat mnt/md/sync_action)" = check ] || die "sync_action: $(cat mnt/md/sync_action)"
refuses 1 'check is running' "$MDVOL_BIN" repair mnt
grep -qE '^ +\[=*>\.*\]  check = +[0-9]+\.[0-9]% \([0-9]+/16384\) finish=[0-9]+\.[0-9]min speed=[0-9]+K/sec$' mnt/mdstat ||
  die "mdstat: $(cat mnt/mdstat)"
grep -qE '^[0-9]+ / 32768$' mnt/md/sync_completed || die "sync_completed: $(cat mnt/md/sync_completed)"
mdvol idle mnt
[ "$(cat mnt/md/sync_action)" = idle ] || die "idle: $(cat mnt/md/sync_action)"
mdvol freeze mnt
[ "$(cat mnt/md/sync_action)" = frozen ] || die "freeze: $(cat mnt/md/sync_action)"
mdvol set mnt sync_speed_max=system
mdvol idle mnt
wait_done

# Parity agrees with wrong data now: write them anew.
dd if=image of=mnt/volume bs=1M conv=notrunc status=none

# ---- a check from the end, and from beyond it ------------------------------------------------------------------------------
end=$(($(cat mnt/md/component_size) * 2))
refuses 1 'beyond the end' "$MDVOL_BIN" set mnt sync_min=$((end + 8))
mdvol set mnt sync_min=$end
run_action check
(for ((i = 0; i < 200; i++)); do cat mnt/mdstat; done) >stats &
reader=$!
for ((i = 0; i < 20; i++)); do
  mdvol set mnt sync_min=$end 2>/dev/null && mdvol check mnt 2>/dev/null || true
done
wait $reader || die "mdstat cannot be read any more: $(tail -3 stats)"
wait_done
mdvol set mnt sync_min=0
say "sync_min at the end"

# ---- suspended writes wait, more of them than there are workers, and nothing else does -----------------------------------
mdvol set mnt suspend_lo=0
mdvol set mnt suspend_hi=2048
writers=()
for ((i = 0; i < 100; i++)); do
  dd if=image of=mnt/volume bs=4096 count=1 skip=$i seek=$i oflag=direct conv=notrunc status=none &
  writers+=($!)
done
sleep 0.5
dd if=image of=mnt/volume bs=4096 count=1 skip=1000 seek=1000 oflag=direct conv=notrunc status=none
waiting=0
for writer in "${writers[@]}"; do kill -0 "$writer" 2>/dev/null && waiting=$((waiting + 1)); done
[ "$waiting" = 100 ] || die "only $waiting of 100 suspended writers wait"
[ "$(mdvol get mnt suspend_hi)" = 2048 ] || die "suspend_hi: $(mdvol get mnt suspend_hi)"
mdvol set mnt suspend_hi=0
for writer in "${writers[@]}"; do wait "$writer" || die "a suspended write has failed"; done
cmp mnt/volume image || die "after suspended writes the volume differs"
say "suspended writes"

# ---- a thousand times, under load --------------------------------------------------------------------------------------
times=200
full_run && times=1000
( while [ ! -e enough ]; do dd if=image of=mnt/volume bs=256K count=64 conv=notrunc status=none; done ) &
load=$!
for ((i = 0; i < times; i++)); do
  case $((i % 4)) in
    0) word=check ;;
    1) word=idle ;;
    2) word=repair ;;
    3) word=frozen ;;
  esac
  timeout 10 bash -c "echo $word >mnt/md/sync_action" 2>sync.err || grep -qi busy sync.err || die "step $i, $word: $(cat sync.err)"
done
touch enough
wait $load
mdvol idle mnt
wait_done
run_action check
[ "$(cat mnt/md/mismatch_cnt)" = 0 ] || die "after $times actions under load: mismatch_cnt $(cat mnt/md/mismatch_cnt)"
cmp mnt/volume image || die "after $times actions under load the volume differs"
stop_volume mnt
say "$times actions under load"
