#!/bin/bash
# quickstart.sh: from a fresh clone to a RAID6 array on six image files, mounted as one file by an ordinary user:
# created, written, read back with two members lost, and examined by the stock mdadm. A few minutes, most of them the
# compiler's. Root is asked for packages that are missing, for nothing else. All that it makes lies in one folder
# below TMPDIR (/var/tmp when that is not set), which is removed at the end.
set -euo pipefail
source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=$(mktemp -d "${TMPDIR:-/var/tmp}/mdvol-quickstart.XXXXXX")
mountpoint=$work/array

cleanup() {
  local status=$?
  trap '' INT TERM
  set +e
  cd /
  if grep -qF " $mountpoint " /proc/self/mountinfo; then
    "$work/build/bin/mdvol" stop "$mountpoint" 2>/dev/null || fusermount3 -u -z "$mountpoint"
  fi
  rm -rf "$work"
  if [ "$status" != 0 ]; then printf '\nThe quick start has failed (exit %d); the lines above say where.\n' "$status" >&2; fi
  exit "$status"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

step_number=0
step() {
  step_number=$((step_number + 1))
  printf '\n%d. %s\n' "$step_number" "$*"
}
# run COMMAND...: shows it as one would type it, and runs it.
run() {
  printf '   $ %s\n' "$*"
  "$@" 2>&1 | sed 's/^/     /'
}

# reads_of MEMBER: its r_requests, how often it has been read since the mount.
reads_of() { sed -n "s/^$1 \([0-9]*\) .*/\1/p" array/iostat; }

# ninja's counter, on a terminal in one line that moves.
show_progress() {
  local line
  while IFS= read -r line; do
    if [[ -t 1 && $line =~ ^\[[0-9]+/[0-9]+\] ]]; then printf '\r   %s ' "${BASH_REMATCH[0]}"; fi
  done
  if [ -t 1 ]; then printf '\n'; fi
}

step "Installing the packages that are missing"
"$source_dir/tests/install-packages.sh" build

step "Building mdvol"
cmake -S "$source_dir" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DMDVOL_BUILD_TESTS=OFF >"$work/build.log" ||
  { tail -n 30 "$work/build.log"; exit 1; }
cmake --build "$work/build" --target mdvol 2>&1 | tee -a "$work/build.log" | show_progress ||
  { tail -n 30 "$work/build.log"; exit 1; }
mkdir "$work/build/bin"
mv "$work/build/fuse/mdvol" "$work/build/bin/mdvol"
export PATH=$work/build/bin:$PATH:/usr/sbin:/sbin
echo "   done after $SECONDS s"
cd "$work"
mkdir array

step "A RAID6 array on six image files, which do not exist yet"
run mdvol create --raid-devices 6 --size 32M --chunk 64K d0.img d1.img d2.img d3.img d4.img d5.img

step "Mounted as one file, by $(id -un)"
run mdvol mount d0.img d1.img d2.img d3.img d4.img d5.img array
run ls -l array/volume

step "Written like any block device: 100 MB of random bytes"
run dd if=/dev/urandom of=original bs=1M count=100 status=none
run dd if=original of=array/volume bs=1M conv=notrunc,fsync status=none
run cat array/mdstat

step "Two members fail"
run mdvol fail array d1.img
run mdvol fail array d4.img
run cat array/mdstat

# With O_DIRECT: the page cache still holds what was written above, and would answer without the array.
step "Every byte is still there: read around the page cache, so that the members must answer"
declare -A reads_before
for member in d{0..5}.img; do reads_before[$member]=$(reads_of "$member"); done
printf '   $ %s\n' 'dd if=array/volume iflag=direct bs=1M count=100 status=none | cmp - original'
dd if=array/volume iflag=direct bs=1M count=100 status=none | cmp - original
echo "     the same 104857600 bytes, from four members of six"
printf '   $ %s\n' "cut -d ' ' -f 1-3 array/iostat"
cut -d ' ' -f 1-3 array/iostat | sed 's/^/     /'
for member in d0.img d2.img d3.img d5.img; do
  if [ "$(reads_of "$member")" -le "${reads_before[$member]}" ]; then
    echo "$member has not been read: those bytes did not come from the array" >&2
    exit 1
  fi
done

step "Stopped, and examined by mdadm"
run mdvol stop array
run mdadm --examine d0.img
for member in d1.img d2.img d3.img d4.img d5.img; do
  printf '   $ mdadm --examine %s\n' "$member"
  mdadm --examine "$member" | grep -E 'Array UUID|Device Role|State|Checksum' | sed 's/^ */     /'
done

printf '\nDone in %d s; all of it is removed again, mdvol too. To keep one, in build/fuse/mdvol:\n' "$SECONDS"
printf '  cd %q && cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release && cmake --build build --target mdvol\n' "$source_dir"
printf 'README.md says what else there is.\n'
