# shellcheck shell=bash disable=SC2086,SC2154
# Guest of locate.sh: what the kernel's check counts in each array of the file `cases`; printed as "ID MISMATCH_CNT".

while read -r id members; do
  now "case $id"
  files=()
  for ((slot = 0; slot < members; slot++)); do files+=("$id/$slot.img"); done
  attach_loops loops "${files[@]}"
  mdadm --quiet --assemble --run /dev/md0 $loops
  now "case $id: check"
  echo check >/sys/block/md0/md/sync_action
  wait_idle md0
  echo "$id $(md_value md0 mismatch_cnt)"
  stop_array md0
  detach_loops $loops
done <cases
