#!/bin/bash
# What the real md driver makes and fills reads the same through mdvol: whole, with every single member left out and
# with every pair; and arrays that the kernel wrote while one or two members had failed.
#
# Here a sample of layout x members x chunk, with all layouts in it; MDVOL_TEST_FULL: the whole product
# 14 x {4, 5, 8, 11} x {4K, 64K, 512K}. Metadata 1.0, 1.1, 1.2 and bitmap internal, none take turns.
. "$(dirname "$0")/../support/case.sh"
. "$MDVOL_SOURCE/tests/interop/layouts.sh"
need_programs mdadm linux.uml

metadata_turn=(1.2 1.1 1.0)
bitmap_turn=(internal none)
count=0
batch=0

# add_case LAYOUT MEMBERS CHUNK_KIB FAILED: one rotation of every layout and a few stripes more, and 2 MiB at least.
add_case() {
  local layout=$1 members=$2 chunk_kib=$3 failed=$4 stripes size_kib id slot
  local metadata=${metadata_turn[count % 3]} bitmap=${bitmap_turn[count / 3 % 2]}
  stripes=$((members + 3))
  if [ $((stripes * chunk_kib)) -lt 2048 ]; then stripes=$((2048 / chunk_kib)); fi
  size_kib=$((stripes * chunk_kib))
  id=$(printf 'case%03d' "$count")
  mkdir "$id"
  for ((slot = 0; slot < members; slot++)); do truncate -s "$((size_kib + 3072))K" "$id/$slot.img"; done
  echo "$id $layout $members $chunk_kib $metadata $bitmap $failed $size_kib" >>cases
  count=$((count + 1))
}

read_case() {
  local id=$1 layout=$2 members=$3 chunk_kib=$4 metadata=$5 bitmap=$6 failed=$7 slot pattern=first.pattern
  local -a files=() stale=()
  for ((slot = 0; slot < members; slot++)); do files+=("$id/$slot.img"); done
  if [ "$failed" -gt 0 ]; then
    pattern=second.pattern
    stale=(--stale "$(seq -s , $((members - failed)) $((members - 1)))")
  fi
  head -c "$(cat "$id/bytes")" "$pattern" >expected
  sha1sum "${files[@]}" >members.before
  reader --expect expected --bytes "$(cat "$id/bytes")" "${stale[@]}" "${files[@]}" >reader.out 2>&1 ||
    die "$layout, $members members, chunk ${chunk_kib}K, metadata $metadata, bitmap $bitmap," \
      "$failed failed: $(cat reader.out)"
  sha1sum "${files[@]}" >members.after
  cmp -s members.before members.after || die "$layout: reading changed a member"
  rm expected
}

run_batch() {
  local line
  [ -s cases ] || return 0
  uml_run -t $((60 + 20 * $(wc -l <cases))) "$MDVOL_SOURCE/tests/interop/kernel_to_mdvol.guest.sh" >guest.out 2>&1 ||
    die "the guest: $(tail -n 40 guest.out)"
  say "the kernel has made $(wc -l <cases) arrays"
  while read -r line; do
    # shellcheck disable=SC2086
    read_case $line
  done <cases
  say "read equal, with none, one and two members left out"
  rm -rf case??? cases
  batch=$((batch + 1))
}

# 9 data members, the largest case: chunks of 512K, 14 stripes.
exerciser pattern first.pattern $((9 * 14 * 512 * 1024)) --seed-name first
exerciser pattern second.pattern $((9 * 14 * 512 * 1024)) --seed-name second

if full_run; then
  for layout in "${ALL_LAYOUTS[@]}"; do
    for members in 4 5 8 11; do
      for chunk_kib in 4 64 512; do add_case "$layout" "$members" "$chunk_kib" 0; done
    done
    add_case "$layout" 6 64 1
    add_case "$layout" 6 64 2
    run_batch
  done
else
  for i in "${!ALL_LAYOUTS[@]}"; do
    if [ $((i % 2)) = 0 ]; then add_case "${ALL_LAYOUTS[i]}" 5 64 0; else add_case "${ALL_LAYOUTS[i]}" 6 4 0; fi
  done
  add_case left-symmetric 4 512 0
  add_case left-asymmetric 8 64 0
  add_case ddf-N-continue 11 4 0
  add_case right-symmetric-6 11 512 0
  add_case left-symmetric 5 64 1
  add_case left-symmetric-6 6 64 2
  run_batch
fi
echo "$count arrays of the kernel read equal"
