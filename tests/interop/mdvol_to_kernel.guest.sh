# shellcheck shell=bash disable=SC2086,SC2154
# Guest of mdvol_to_kernel.sh: for each array of the file `cases`, what the kernel makes of it. CASE/shadow is what the
# volume must read as.

compare() {
  now "case $1: comparing, $2"
  cmp /dev/md0 "$1/shadow"
}

run_case() {
  local id=$1 members=$2 bitmap=$3 lost=$4 slot loops missing=
  local -a files=() devices present=()
  for ((slot = 0; slot < members; slot++)); do files+=("$id/$slot.img"); done
  attach_loops loops "${files[@]}"
  read -r -a devices <<<"$loops"
  for ((slot = 0; slot < members; slot++)); do
    case ",$lost," in
      *",$slot,"*) missing="$missing ${devices[slot]}" ;;
      *) present+=("${devices[slot]}") ;;
    esac
  done
  mdadm --quiet --assemble --run /dev/md0 "${present[@]}"
  now "case $id: the kernel must not think that a resync is due"
  [ "$(md_value md0 resync_start)" = none ]
  compare "$id" "as mdvol left it"
  if [ -n "$missing" ]; then
    # With a bitmap the kernel rebuilds only what the bits say: bits that mdvol forgot would leave old bytes.
    if [ "$bitmap" = internal ]; then
      mdadm --quiet /dev/md0 --re-add $missing
    else
      mdadm --quiet --zero-superblock $missing
      mdadm --quiet /dev/md0 --add $missing
    fi
  fi
  wait_whole md0
  echo 3 >/proc/sys/vm/drop_caches
  compare "$id" "with all members"
  now "case $id: check"
  check_array md0
  stop_array md0
  detach_loops $loops
}

while read -r line; do
  now "case $line"
  # shellcheck disable=SC2086
  run_case $line
done <cases
