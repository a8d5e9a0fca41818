#!/bin/bash
# degraded_cpu.sh [--quick] [--repeats N] [--build-dir DIR]: what processor time a read costs that no lost member
# concerns, on an array that has lost one, beside an array that is whole (criterion: within 5 %).
#
# Random reads of 4 KiB with O_DIRECT inside one chunk, whose member is there, of six members in memory; the daemon's
# user and system time for each read, three arrays in turns within each repeat: whole, degraded under `bypass`, degraded
# under `adaptive`. Processor time, not speed: other programs disturb it less, yet they do.
#   --quick      one repeat of a second: whether it works
#   --build-dir  where mdvol was built (default ./build/release); Release, or the numbers mean nothing
. "$(dirname "$0")/common.sh"
repeats=7 seconds=4
quick() { repeats=1 seconds=1; }
parse_options "repeats build_dir" "$@"
need_programs fio jq
mdvol=$(find_program mdvol)
enter_memory 1024 whole lost

for name in whole lost; do
  "$mdvol" create --raid-devices 6 --size 32M --chunk 16M "$name"-{0..5}.img >/dev/null
  "$mdvol" mount "$name"-{0..5}.img "$name"
  dd if=/dev/urandom of="$name/volume" bs=1M count=64 conv=notrunc status=none
done
# Any member but that of the first chunk.
first=$("$mdvol" map whole --offset 0 | sed -n 's/.* slot \([0-9]*\) .*/\1/p' | head -n 1)
"$mdvol" fail lost $(((first + 1) % 6))

# The daemon's processor time so far, in ms.
cpu_ms() { awk -v hz="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); print ($12 + $13) * 1000 / hz }' "/proc/$1/stat"; }
# measure FOLDER FILE: appends microseconds of the daemon for each read.
measure() {
  local daemon before reads
  daemon=$(jq -r .pid "$1/status.json")
  before=$(cpu_ms "$daemon")
  reads=$(fio --name=read --filename="$1/volume" --size=16M --rw=randread --bs=4k --direct=1 --ioengine=psync \
    --numjobs=2 --thread --norandommap --time_based --runtime="${seconds}s" --output-format=json |
    jq '[.jobs[].read.total_ios] | add')
  awk -v ms="$(cpu_ms "$daemon")" -v before="$before" -v n="$reads" 'BEGIN { printf "%.3f\n", (ms - before) * 1000 / n }' >>"$2"
}
for ((repeat = 0; repeat < repeats; repeat++)); do
  measure whole whole.us
  "$mdvol" set lost policy/degraded_read=bypass
  measure lost bypass.us
  "$mdvol" set lost policy/degraded_read=adaptive
  measure lost adaptive.us
done

whole=$(median <whole.us)
machine
echo "six members in memory, chunk 16 MiB; medians of $repeats"
{
  echo "array,us_per_read,to_whole"
  for kind in whole bypass adaptive; do
    awk -v kind="$kind" -v us="$(median <$kind.us)" -v whole="$whole" 'BEGIN { printf "%s,%.2f,%.3f\n", kind, us, us / whole }'
  done
} | column -t -s ,
