# shellcheck shell=bash disable=SC2086,SC2154
# Guest of kernel_to_mdvol.sh: makes and fills the arrays of the file `cases`; each array's size, as the kernel sees it,
# goes to CASE/bytes.

# fill MD PATTERN: the whole array, in requests that are no multiple of the stripe, then written again in small pieces
# here and there with the bytes that are there already (read-modify-write and reconstruct-write in the kernel).
fill() {
  local device=/dev/$1 pattern=$2 bytes piece
  bytes=$(blockdev --getsize64 "$device")
  dd if="$pattern" of="$device" bs=1300K count="$bytes" iflag=fullblock,count_bytes conv=fsync status=none
  for piece in 3 17 40 101; do
    dd if="$pattern" of="$device" bs=4096 skip="$piece" seek="$piece" count=$((piece % 7 + 1)) oflag=direct status=none
  done
}

make_case() {
  local id=$1 layout=$2 members=$3 chunk_kib=$4 metadata=$5 bitmap=$6 failed=$7 size_kib=$8 loops slot list
  local -a files=()
  for ((slot = 0; slot < members; slot++)); do files+=("$id/$slot.img"); done
  attach_loops loops "${files[@]}"
  mdadm --quiet --create /dev/md0 --run --level=6 --metadata="$metadata" --raid-devices="$members" \
    --chunk="$chunk_kib" --layout="$layout" --bitmap="$bitmap" --size="$size_kib" $loops
  wait_whole md0
  fill md0 first.pattern
  read -r -a list <<<"$loops"
  for ((slot = 0; slot < failed; slot++)); do
    mdadm --quiet /dev/md0 --fail "${list[members - 1 - slot]}"
  done
  if [ "$failed" -gt 0 ]; then fill md0 second.pattern; fi
  blockdev --getsize64 /dev/md0 >"$id/bytes"
  stop_array md0
  detach_loops $loops
}

while read -r line; do
  now "case $line"
  # shellcheck disable=SC2086
  make_case $line
done <cases
