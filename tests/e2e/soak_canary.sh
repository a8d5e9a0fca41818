# shellcheck shell=bash disable=SC2154
# For soak.sh, with MDVOL_TEST_SOAK_CANARY: can the soak fail? One bit is flipped in a member, and the check that is there
# for such a byte must end with a failure that names it; after the bit is flipped back, the same check must be content.

# expect_red PATTERN COMMAND...: it must die, or fail, and say something that matches (extended regular expression).
expect_red() {
  local pattern=$1
  shift
  if ("$@") >red.out 2>&1; then die "$*: a wrong byte was not seen: $(tail -n 5 red.out)"; fi
  grep -qE -e "$pattern" red.out || die "$*: expected /$pattern/ in: $(tail -n 20 red.out)"
  say "red, as it should be: $(grep -m 1 -E -e "$pattern" red.out | head -c 300)"
}

# place VOLUME_OFFSET ROLE: the file that holds this byte, or the parity of it, and the offset there; nobody may use the
# members meanwhile.
place() {
  mdvol map "${MEMBERS[@]}" --offset "$1" | awk -v role="$2" '$13 == role { print $7, $11 }'
}
# flip_stopped VOLUME_OFFSET ROLE: with the array stopped for it, so that no cache is in the way.
flip_stopped() {
  local at
  stop_volume mnt
  read -r -a at < <(place "$@")
  flip_bit "${at[@]}"
  mount_again
}

# Hooks of degraded_crash_round: a bit of the data of a member that still counts, in or outside of the exempt ranges.
is_exempt() { awk -v at="$1" 'at >= $1 && at < $1 + $2 { found = 1 } END { exit !found }' exempt; }
events_of() { python3 "$MDVOL_SOURCE/tests/e2e/superblock.py" get "$1" events; }
flip_where() {
  local wanted=$1 offset at name newest=0
  for name in "${MEMBERS[@]}"; do
    if [ "$(events_of "$name")" -gt "$newest" ]; then newest=$(events_of "$name"); fi
  done
  for ((offset = 1234; offset < volume_mib * 1048576; offset += 65536)); do
    if is_exempt "$offset"; then [ "$wanted" = exempt ] || continue; else [ "$wanted" = other ] || continue; fi
    read -r -a at < <(place "$offset" data)
    if [ -e "${at[0]}" ] && [ "$(events_of "${at[0]}")" = "$newest" ]; then
      flip_bit "${at[@]}"
      echo "$offset" >flipped
      return
    fi
  done
  die "no byte to flip"
}
flip_exempt() { flip_where exempt; }
flip_other() { flip_where other; }

exerciser write mnt/volume shadow --members "$raid_disks" --chunk 65536 --operations 200 --seed-name canary
verify "before"

# ---- A byte of the volume --------------------------------------------------------------------------------------------
flip_stopped 12345678 data
expect_red 'FAILED: now: .*volume offset 12345678 ' verify "now"
flip_stopped 12345678 data
verify "flipped back"

# ---- fio -------------------------------------------------------------------------------------------------------------
run_fio mnt/volume 32 1 || die "fio"
flip_stopped $((36 * 1048576 + 100)) data
expect_red 'crc32c: verify failed .* offset 37748736,' check_fio mnt/volume 32 1
flip_stopped $((36 * 1048576 + 100)) data
check_fio mnt/volume 32 1 || die "fio, flipped back"
expect_red 'rand_seed' check_fio mnt/volume 32 2
dd if=mnt/volume of=shadow bs=1M skip=32 seek=32 count=32 iflag=direct conv=notrunc status=none

# ---- Parity, which no reader sees ------------------------------------------------------------------------------------
for role in P Q; do
  flip_stopped 7654321 "$role"
  verify "with a wrong bit in $role"
  expect_red 'mismatch_cnt 8' check_all
  if [ "$role" = Q ]; then expect_red 'the guest: ' kernel_agrees; fi
  is_mounted mnt || mount_again
  flip_stopped 7654321 "$role"
  check_all
done

# ---- After a kill while degraded -------------------------------------------------------------------------------------
round_began=$SECONDS
degraded_crash_round 0 flip_exempt
say "a byte in an exempt stripe may be anything"
expect_red 'after the kill while degraded: .*volume offset' degraded_crash_round 1 flip_other
grep -qF "volume offset $(cat flipped) " red.out || die "flipped was $(cat flipped): $(cat red.out)"
