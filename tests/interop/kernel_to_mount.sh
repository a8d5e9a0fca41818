#!/bin/bash
# The kernel's arrays under the mdvol executable, as a user has them: made and filled by md, mounted through FUSE. Read-only
# (whole, with two members lost, and as the kernel left it when two had failed) not one byte of any member changes;
# read-write it is written, loses a member, is written again, and the kernel takes it back.
. "$(dirname "$0")/../support/case.sh"
. "$MDVOL_SOURCE/tests/support/volume.sh"
need_programs mdadm jq linux.uml fusermount3

# ID LAYOUT MEMBERS CHUNK_KIB METADATA BITMAP FAILED SIZE_KIB, of kernel_to_mdvol.guest.sh
cat >cases <<'CASES'
read right-symmetric 6 64 1.0 none 0 4096
stale left-asymmetric 6 64 1.1 internal 2 4096
write left-symmetric 6 64 1.2 internal 0 4096
CASES
mkdir mnt read stale write
for id in read stale write; do
  for slot in {0..5}; do truncate -s 7M "$id/$slot.img"; done
done
bytes=$((4 * 4096 * 1024))
exerciser pattern first.pattern "$bytes" --seed-name first
exerciser pattern second.pattern "$bytes" --seed-name second
uml_run -t 120 "$MDVOL_SOURCE/tests/interop/kernel_to_mdvol.guest.sh" >guest.out 2>&1 ||
  die "the guest: $(tail -n 40 guest.out)"
say "the kernel has made them"

# holds FILE WHAT: through the page cache, and from every member in sync.
holds() {
  [ "$(stat -c %s mnt/volume)" = "$bytes" ] || die "$2: the volume has $(stat -c %s mnt/volume) bytes"
  cmp mnt/volume "$1" || die "$2: the volume reads other bytes"
  from_members mnt holds_directly "$@"
}
holds_directly() {
  dd if=mnt/volume iflag=direct bs=1M status=none | cmp - "$1" || die "$2: the volume reads other bytes with O_DIRECT"
}

# read_only PATTERN WHAT DEGRADED OPTION...: MEMBERS, mounted and compared.
read_only() {
  local pattern=$1 what=$2 degraded=$3
  shift 3
  fingerprint "${MEMBERS[@]}" >before
  mount_volume mnt --read-only "$@"
  [ "$(cat mnt/md/degraded)" = "$degraded" ] || die "$what: degraded: $(cat mnt/md/degraded)"
  holds "$pattern" "$what"
  if dd if=first.pattern of=mnt/volume bs=4096 count=1 conv=notrunc status=none 2>/dev/null; then
    die "$what: a write was accepted"
  fi
  stop_volume mnt
  fingerprint "${MEMBERS[@]}" >after
  cmp before after || die "$what: members have changed"
}

# ---- Read-only --------------------------------------------------------------------------------------
name_members 6 read/
mdvol examine --json "${MEMBERS[@]}" >examine.json || die "examine: $(cat examine.json)"
jq -e '.decision | .starts and .missing == 0 and (.dirty | not)' examine.json >/dev/null || die "examine: $(cat examine.json)"
read_only first.pattern "read-only" 0
all=("${MEMBERS[@]}")
for lost in "0 1" "2 5"; do
  MEMBERS=()
  for slot in {0..5}; do
    case " $lost " in *" $slot "*) ;; *) MEMBERS+=("${all[slot]}") ;; esac
  done
  refuses 1 '--run' "$MDVOL_BIN" mount --read-only "${MEMBERS[@]}" mnt
  read_only first.pattern "read-only, without $lost" 2 --run
done
# The kernel has failed the last two, and gone on writing: they are named, and left out.
name_members 6 stale/
read_only second.pattern "read-only, two stale" 2
for slot in 4 5; do grep -q "left out.*stale/$slot\.img" mount.out || die "two stale: $(cat mount.out)"; done
say "read-only"

# ---- Read-write, and back -----------------------------------------------------------------------------
name_members 6 write/
cp first.pattern write/shadow
mount_volume mnt
holds write/shadow "read-write"
mdadm --examine "${MEMBERS[0]}" | sed -n 's/^ *Array UUID : //p' >uuid
mdvol detail mnt | grep -qF "$(cat uuid)" || die "detail names another array than mdadm: $(mdvol detail mnt)"

# exercise PART: writes at random, then compares.
exercise() {
  exerciser write mnt/volume write/shadow --members 6 --chunk 65536 --operations 150 --jobs 3 --seed-name "$1" \
    >exerciser.out 2>&1 || die "$1: $(cat exerciser.out)"
  holds write/shadow "$1"
}
exercise "whole"
mdvol fail mnt 1 || die "fail"
exercise "lost-1"
stop_volume mnt
examine_members clean A.AAAA "${MEMBERS[0]}" "${MEMBERS[@]:2}"
mount_volume mnt
holds write/shadow "read-write, mounted again"
stop_volume mnt
# ID MEMBERS BITMAP LOST, of mdvol_to_kernel.guest.sh
echo "write 6 internal 1" >cases
uml_run -t 120 "$MDVOL_SOURCE/tests/interop/mdvol_to_kernel.guest.sh" >guest.out 2>&1 ||
  die "the guest: $(tail -n 60 guest.out)"
say "read-write, and the kernel has taken it back"

mount_volume mnt
[ "$(cat mnt/md/degraded)" = 0 ] || die "after the kernel: degraded: $(cat mnt/md/degraded)"
holds write/shadow "after the kernel"
stop_volume mnt
say "and mdvol once more"
