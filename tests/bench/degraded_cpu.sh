#!/bin/bash
# degraded_cpu.sh [--quick] [--repeats N] [--build-dir DIR]: what processor time a read costs that no lost member
# concerns, on an array that has lost one, beside an array that is whole (criterion: within 5 %).
#
# Random reads of 4 KiB with O_DIRECT inside one chunk, whose member is there, of six members in memory; the daemon's
# user and system time for each read, three arrays in turns within each repeat: whole, degraded under `bypass`, degraded
# under `adaptive`. Processor time, not speed: other programs disturb it less, yet they do.
#   --quick      one repeat of a second: whether it works
#   --build-dir  where mdvol was built (default ./build/release); Release, or the numbers mean nothing
set -euo pipefail
source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
repeats=7 seconds=4 build_dir=$source_dir/build/release
usage() { sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"; }
fail() { echo "degraded_cpu.sh: $*" >&2; exit 1; }
while [ $# -gt 0 ]; do
  case $1 in
    --quick) repeats=1 seconds=1 ;;
    --repeats | --build-dir)
      [ $# -ge 2 ] || { echo "degraded_cpu.sh: $1 wants a value" >&2; exit 2; }
      case $1 in
        --repeats) repeats=$2 ;;
        --build-dir) build_dir=$2 ;;
      esac
      shift
      ;;
    --help) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
  shift
done
mdvol=$(find "$(realpath -m "$build_dir")" -type f -name mdvol -perm -u+x | head -n 1)
[ -n "$mdvol" ] || fail "mdvol is not in $build_dir; build it, or name the folder with --build-dir"
for program in fio jq; do command -v "$program" >/dev/null || fail "$program is needed"; done

work=$(mktemp -d /dev/shm/mdvol-degraded-cpu.XXXXXX)
cleanup() {
  local status=$?
  trap '' INT TERM
  set +e
  cd /
  for name in whole lost; do
    if grep -qF " $work/$name " /proc/self/mountinfo; then "$mdvol" stop "$work/$name" || fusermount3 -u -z "$work/$name"; fi
  done
  rm -rf "$work"
  exit "$status"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
cd "$work"

for name in whole lost; do
  mkdir "$name"
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

median() { sort -n "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
whole=$(median whole.us)
echo "$(nproc) cores, $(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -n 1); medians of $repeats"
{
  echo "array,us_per_read,to_whole"
  for kind in whole bypass adaptive; do
    awk -v kind="$kind" -v us="$(median $kind.us)" -v whole="$whole" 'BEGIN { printf "%s,%.2f,%.3f\n", kind, us, us / whole }'
  done
} | column -t -s ,
