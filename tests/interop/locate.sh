#!/bin/bash
# Wrong lanes on members, in every layout: the kernel's check and mdvol's count the same; mdvol names the member of each,
# repair mends exactly what was spoilt, and then both find nothing.
. "$(dirname "$0")/../support/case.sh"
. "$MDVOL_SOURCE/tests/support/volume.sh"
. "$MDVOL_SOURCE/tests/interop/layouts.sh"
need_programs mdadm linux.uml jq cmp

test_seed locate
RANDOM=$((seed & 32767))
members_turn=(4 5 6 8)
chunk_turn=(4 64)
data_begin=1048576  # create's data offset
stripes=24

images() {
  local slot
  MEMBERS=()
  for ((slot = 0; slot < $2; slot++)); do MEMBERS+=("$CASE_DIR/$1/$slot.img"); done
}
run_action() {
  mdvol "$1" mnt || die "$1"
  mdvol wait mnt >/dev/null || die "wait"
}
data_sums() { for image in "${MEMBERS[@]}"; do tail -c +$((data_begin + 1)) "$image" | sha1sum; done; }

# Spoils two to five lanes of different stripes, each on one member; "STRIPE LANE SLOT" a line, by stripe.
spoil() {
  local chunk_kib=$1 members=$2 wanted=$((2 + RANDOM % 4)) stripe lane slot at
  for stripe in $(shuf -i 0-$((stripes - 1)) -n "$wanted" --random-source=<(yes "$RANDOM$RANDOM")); do
    lane=$((RANDOM % (chunk_kib / 4)))
    slot=$((RANDOM % members))
    at=$((data_begin + stripe * chunk_kib * 1024 + lane * 4096 + RANDOM % 4000))
    # Not what is there already, whatever that is.
    dd if="${MEMBERS[slot]}" bs=1 skip=$at count=16 status=none | tr '\000-\377' '\001-\377\000' >spoilt
    dd if=spoilt of="${MEMBERS[slot]}" bs=1 seek=$at conv=notrunc status=none
    echo "$stripe $lane $slot"
  done | sort -n
}

case_id=0
for layout in "${ALL_LAYOUTS[@]}"; do
  id=case$case_id members=${members_turn[case_id % 4]} chunk_kib=${chunk_turn[case_id % 2]}
  case_id=$((case_id + 1))
  mkdir "$id"
  images "$id" "$members"
  create_array $((stripes * chunk_kib))K --layout "$layout" --chunk "${chunk_kib}K"
  mount_volume mnt
  dd if=/dev/urandom of=mnt/volume bs=64K count=$(($(stat -c %s mnt/volume) / 65536)) iflag=fullblock conv=notrunc status=none
  stop_volume mnt
  data_sums >"$id/sums"
  spoil "$chunk_kib" "$members" >"$id/spoilt"
  echo "$id $members" >>cases
done
say "spoilt $case_id arrays"
uml_run -t 300 "$MDVOL_SOURCE/tests/interop/locate.guest.sh" >kernel || die "the guest: $(tail -n 40 kernel)"
say "checked by the kernel"

while read -r id members; do
  images "$id" "$members"
  mount_volume mnt
  run_action check
  counted=$(sed -n "s/^$id //p" kernel)
  expected=$((8 * $(wc -l <"$id/spoilt")))
  [ "$(cat mnt/md/mismatch_cnt)" = "$expected" ] || die "$id: mismatch_cnt $(cat mnt/md/mismatch_cnt), expected $expected"
  [ "$counted" = "$expected" ] || die "$id: the kernel counts $counted, expected $expected"
  jq -r '.located[] | "\(.stripe) \(.lane) \(.member)"' mnt/status.json | sed 's/\.img$//' | sort -n >located
  cmp -s located "$id/spoilt" || die "$id: located $(cat located), spoilt $(cat "$id/spoilt")"
  run_action repair
  [ "$(jq '[.located[] | select(.repaired | not)] | length' mnt/status.json)" = 0 ] || die "$id: not all repaired"
  run_action check
  [ "$(cat mnt/md/mismatch_cnt)" = 0 ] || die "$id: after repair mismatch_cnt $(cat mnt/md/mismatch_cnt)"
  stop_volume mnt
  data_sums >sums
  cmp -s sums "$id/sums" || die "$id: repair has not brought back what was there before"
done <cases
say "located and repaired"
uml_run -t 300 "$MDVOL_SOURCE/tests/interop/locate.guest.sh" >kernel || die "the guest: $(tail -n 40 kernel)"
if grep -v ' 0$' kernel; then die "the kernel still finds mismatches"; fi
say "the kernel finds nothing any more"
