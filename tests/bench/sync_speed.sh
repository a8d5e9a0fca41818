#!/bin/bash
# sync_speed.sh [--quick] [--repeats N] [--build-dir DIR] [--csv FILE]: how fast `check` and a rebuild go, beside merely
# reading (or copying) the same member files with two processes in parallel, in one run. On members in memory the ratio
# says what the engine costs; the mean request is what disks would care for.
#
#   check    mdvol check on a whole array, to reading all members
#   rebuild  filling one blank member of the array, to reading the others and writing one
#
# Data areas only, chunk 512 KiB, about 1 GiB of member bytes for each count of members: 4, 16, 36, 128.
#   --quick      64 MiB of member bytes, one repeat, 4 and 16 members: whether it works, not how fast
#   --build-dir  where mdvol was built (default ./build/release); Release, or the numbers mean nothing
. "$(dirname "$0")/common.sh"
repeats=5 csv= total_mib=1024 counts=(4 16 36 128)
quick() { repeats=1 total_mib=64 counts=(4 16); }
parse_options "repeats build_dir csv" "$@"
mdvol=$(find_program mdvol)
enter_memory $((2 * total_mib + 512)) volume

now_ms() { date +%s%3N; }
# read_members MIB FILE...: their data areas, two processes side by side. Prints milliseconds.
read_members() {
  local mib=$1 start
  shift
  start=$(now_ms)
  printf '%s\0' "$@" | xargs -0 -n $((($# + 1) / 2)) -P 2 sh -c \
    'for f in "$@"; do dd if="$f" of=/dev/null bs=1M skip=1 count='"$mib"' status=none; done' sh
  echo $(($(now_ms) - start))
}
# sync_time ACTION-COMMAND...: until nothing is synced any more. Prints milliseconds.
sync_time() {
  local start
  start=$(now_ms)
  "$@" >/dev/null
  "$mdvol" wait volume >/dev/null
  echo $(($(now_ms) - start))
}
# mean_kib NAME... : the mean read request over the members named, in KiB; all of them without names.
mean_kib() { awk 'NR > 1 { r += $2; b += $3 } END { printf "%.0f", r ? b / r / 1024 : 0 }' volume/iostat; }

rows=()
for count in "${counts[@]}"; do
  mib=$((total_mib / count))
  members=()
  for ((i = 0; i < count; i++)); do members+=("d$i.img"); done
  "$mdvol" create --raid-devices "$count" --size "${mib}M" "${members[@]}" >create.out 2>&1 || fail "$(cat create.out)"
  "$mdvol" mount "${members[@]}" volume
  dd if=/dev/urandom of=volume/volume bs=1M count=$(($(stat -c %s volume/volume) / 1048576)) conv=notrunc status=none
  "$mdvol" set volume sync_speed_max=100000000
  : >reads >checks >copies >rebuilds >means
  for ((repeat = 0; repeat < repeats; repeat++)); do
    "$mdvol" stop volume
    "$mdvol" mount "${members[@]}" volume
    "$mdvol" set volume sync_speed_max=100000000
    read_members "$mib" "${members[@]}" >>reads
    sync_time "$mdvol" check volume >>checks
    [ "$(cat volume/md/mismatch_cnt)" = 0 ] || fail "check has found a mismatch"
    mean_kib >>means; echo >>means
  done
  for ((repeat = 0; repeat < repeats; repeat++)); do
    start=$(now_ms)
    read_members "$mib" "${members[@]:1:count-2}" >/dev/null
    dd if=d0.img of=copy.img bs=1M status=none
    echo $(($(now_ms) - start)) >>copies
    rm -f copy.img
    "$mdvol" fail volume 0
    old=$(cat volume/md/dev-*/state | grep -c faulty)
    [ "$old" = 1 ] || fail "one member should be faulty"
    "$mdvol" remove volume "$( (cd volume/md && grep -l faulty dev-*/state) | sed 's,^dev-\(.*\)/state$,\1,')"
    truncate -s $((mib + 1))M "blank$repeat.img"
    sync_time "$mdvol" add volume "blank$repeat.img" >>rebuilds
    [ "$(cat volume/md/degraded)" = 0 ] || fail "the rebuild has not ended well"
  done
  "$mdvol" stop volume
  read_ms=$(median <reads) check_ms=$(median <checks) copy_ms=$(median <copies) rebuild_ms=$(median <rebuilds)
  rows+=("$(awk -v n="$count" -v mib="$((mib * count))" -v r="$read_ms" -v c="$check_ms" -v m="$(median <means)" \
    -v y="$copy_ms" -v b="$rebuild_ms" 'BEGIN { printf "%d,%.0f,%.0f,%.2f,%d,%.2f", n, mib * 1000 / r, mib * 1000 / c, r / c, m, y / b }')")
  rm -f ./*.img
  echo "measured: $count members" >&2
done

header=members,read_mib_s,check_mib_s,check/read,mean_kib,rebuild/copy
machine
echo "members in memory, chunk 512 KiB, $total_mib MiB in all; medians of $repeats"
{ echo "$header"; printf '%s\n' "${rows[@]}"; } | column -t -s ,
[ -z "$csv" ] || { echo "$header"; printf '%s\n' "${rows[@]}"; } >"$csv"
