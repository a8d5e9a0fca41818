#!/bin/bash
# soak.sh [canary]: while writers write and check what they read, members fail, leave, come back by the bitmap or as
# blanks, are replaced, spares take over, checks and repairs run; the daemon is killed and started again. No wrong byte,
# nothing hangs; at the end the kernel takes the array over, reads the same, and its check finds no mismatch.
#
# Rounds of four kinds take turns (soak_rounds.sh): random steps (soak_steps.sh) under the exerciser's writers and under
# fio's, each of which may end with a stop or a kill between writes; a kill while writers write to a whole array (what was
# synced must be there); and one while they write to a degraded one (it wants --force then, and stripes whose bits were
# set are exempt). fio cannot tell after a kill what it had written; the exerciser can.
#
# What happens when is drawn from the seed, which is printed, and every step is printed as it is taken:
# MDVOL_TEST_SEED takes the same decisions again, though threads may fall in with each other otherwise.
# MDVOL_TEST_SOAK_SECONDS says how long (40; MDVOL_TEST_FULL: 3600).
#
# canary, or MDVOL_TEST_SOAK_CANARY=1: instead of all this, single wrong bits are planted, and each check has to see its
# own.
. "$(dirname "$0")/../support/case.sh"
. "$MDVOL_SOURCE/tests/support/volume.sh"
need_programs jq cmp fio python3 mdadm linux.uml fusermount3

soak_seconds=40
if full_run; then soak_seconds=3600; fi
soak_seconds=${MDVOL_TEST_SOAK_SECONDS:-$soak_seconds}
test_seed soak
RANDOM=$((seed & 0x7fffffff))

raid_disks=6
volume_mib=64
pool=(d0.img d1.img d2.img d3.img d4.img d5.img d6.img d7.img)
. "$MDVOL_SOURCE/tests/e2e/soak_steps.sh"
. "$MDVOL_SOURCE/tests/e2e/soak_rounds.sh"

# The members are handed to the kernel, and nobody has them afterwards.
kernel_agrees() {
  local slot name
  mkdir soak
  ln shadow soak/shadow
  for ((slot = 0; slot < raid_disks; slot++)); do
    for name in "${pool[@]}"; do
      if [ "$(state_of "$name")" != absent ] && [ "$(cat "mnt/md/dev-$name/slot")" = "$slot" ] &&
        [[ $(state_of "$name") == in_sync* ]]; then
        ln "$name" "soak/$slot.img"
      fi
    done
    [ -e "soak/$slot.img" ] || die "nobody is in slot $slot: $(cat mnt/mdstat)"
  done
  stop_volume mnt
  echo "soak $raid_disks internal -" >cases  # ID MEMBERS BITMAP LOST
  uml_run -t 180 "$MDVOL_SOURCE/tests/interop/mdvol_to_kernel.guest.sh" >guest.out 2>&1 ||
    die "the guest: $(tail -n 60 guest.out)"
}

MEMBERS=("${pool[@]:0:raid_disks}")
create_array $((volume_mib / 4))M --chunk 64K --bitmap-chunk 64K
truncate -s ${volume_mib}M shadow
mount_volume mnt
mdvol set mnt bitmap/time_base=1

if [ "${1:-}" = canary ] || [ "${MDVOL_TEST_SOAK_CANARY:-0}" != 0 ]; then
  . "$MDVOL_SOURCE/tests/e2e/soak_canary.sh"
  exit 0
fi

rounds=(busy_round fio_round crash_round degraded_crash_round)
for ((round = 0; SECONDS < soak_seconds; round++)); do
  round_began=$SECONDS
  "${rounds[round % 4]}" "$round"
  say "round $round: $(tr '\n' ' ' <mnt/mdstat | head -c 300)"
done

make_whole
check_all
verify "at the end"
kernel_agrees
say "$round rounds; the kernel reads the same and finds no mismatch"
for name in "${!taken[@]}"; do echo "$name ${taken[$name]}"; done | sort
