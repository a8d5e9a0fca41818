#!/bin/bash
# What mdvol creates and writes is a sound array to mdadm and to the real md driver: written at random by several
# threads while whole, while degraded and while doubly degraded, discarded in part, stopped; then examined, assembled,
# compared, made whole and checked by the kernel; and then read by mdvol again.
#
# Here metadata {1.0, 1.1, 1.2} x bitmap {internal, none} x members lost {0, 1, 2}, the layouts, member counts and
# chunks taking turns; MDVOL_TEST_FULL: all that for each of the 14 layouts.
. "$(dirname "$0")/../support/case.sh"
. "$MDVOL_SOURCE/tests/support/volume.sh"
. "$MDVOL_SOURCE/tests/interop/layouts.sh"
need_programs mdadm linux.uml fusermount3

metadata_turn=(1.2 1.1 1.0)
bitmap_turn=(internal none)
members_turn=(6 5 4 8 11)
chunk_turn=(64 4 512)
count=0
total=0

# survivors MEMBERS LOST: "AA.A" with a dot for each slot in the comma-separated LOST.
survivors() {
  local slot text=
  for ((slot = 0; slot < $1; slot++)); do
    case ",$2," in *",$slot,"*) text="$text." ;; *) text="${text}A" ;; esac
  done
  echo "$text"
}

# exercise ID MEMBERS CHUNK_KIB PART: writes, then compares all of it, in the page cache and on the members.
exercise() {
  exerciser write mnt/volume "$1/shadow" --members "$2" --chunk $(($3 * 1024)) --operations 120 --jobs 3 \
    --seed-name "$1-$4" >exerciser.out 2>&1 || die "$1, $4: $(cat exerciser.out)"
  exerciser verify mnt/volume "$1/shadow" --access mixed || die "$1, $4: comparing the volume"
}

# make_case LAYOUT: one array through its life, and its line in `cases`.
make_case() {
  local layout=$1 i=$count id lost='' slot failed=$((count / 6 % 3)) stripes
  local metadata=${metadata_turn[i % 3]} bitmap=${bitmap_turn[i / 3 % 2]}
  local members=${members_turn[i % 5]} chunk_kib=${chunk_turn[i % 7 % 3]}
  count=$((count + 1))
  id=$(printf 'case%03d' "$i")
  mkdir "$id"
  MEMBERS=()
  for ((slot = 0; slot < members; slot++)); do MEMBERS+=("$CASE_DIR/$id/$slot.img"); done
  stripes=$((2 * members + 3))
  if [ $((stripes * chunk_kib)) -lt 2048 ]; then stripes=$((2048 / chunk_kib)); fi
  create_array "$((stripes * chunk_kib))K" --layout "$layout" --chunk "${chunk_kib}K" --metadata "$metadata" \
    --bitmap "$bitmap"
  mount_volume mnt
  exercise "$id" "$members" "$chunk_kib" whole
  for ((slot = 0; slot < failed; slot++)); do
    local member=$(((i + 2 * slot) % members))
    lost=${lost:+$lost,}$member
    mdvol fail mnt "${MEMBERS[member]}" || die "$id: mdvol fail of slot $member"
    exercise "$id" "$members" "$chunk_kib" "lost-$lost"
  done
  stop_volume mnt
  for ((slot = 0; slot < members; slot++)); do
    case ",$lost," in
      *",$slot,"*) mdadm --examine "${MEMBERS[slot]}" >examine.out 2>&1 || die "$id: $(cat examine.out)" ;;
      *) examine_members clean "$(survivors "$members" "$lost")" "${MEMBERS[slot]}" ;;
    esac
  done
  echo "$id $members $bitmap ${lost:--} $layout $metadata $chunk_kib" >>cases
}

# After the kernel has made it whole.
read_case() {
  local id=$1 members=$2 slot
  local -a files=()
  for ((slot = 0; slot < members; slot++)); do files+=("$id/$slot.img"); done
  reader --expect "$id/shadow" --bytes "$(stat -c %s "$id/shadow")" "${files[@]}" >reader.out 2>&1 ||
    die "$*: mdvol reads other bytes after the kernel: $(cat reader.out)"
  examine_members clean "$(survivors "$members" -)" "${files[@]}"
}

run_batch() {
  local line
  say "mdvol has made and written $(wc -l <cases) arrays; mdadm accepts every member"
  uml_run -t $((60 + 20 * $(wc -l <cases))) "$MDVOL_SOURCE/tests/interop/mdvol_to_kernel.guest.sh" >guest.out 2>&1 ||
    die "the guest: $(tail -n 60 guest.out)"
  say "the kernel reads the same, has made them whole, and its check finds no mismatch"
  while read -r line; do
    # shellcheck disable=SC2086
    read_case $line
  done <cases
  say "mdvol reads the same after the kernel, with none, one and two members left out"
  total=$((total + $(wc -l <cases)))
  rm -rf case??? cases
}

if full_run; then
  for turn in "${!ALL_LAYOUTS[@]}"; do
    count=0
    members_turn=("${members_turn[@]:1}" "${members_turn[0]}")
    for ((i = 0; i < 18; i++)); do make_case "${ALL_LAYOUTS[turn]}"; done
    run_batch
  done
else
  for ((i = 0; i < 18; i++)); do make_case "${ALL_LAYOUTS[i % 14]}"; done
  run_batch
fi
echo "$total arrays of mdvol are sound to the kernel"
