#!/bin/bash
# What a crash of mdvol leaves is an array to the real md driver too: crash states of distinct metadata, from every
# scenario of crash_enumeration, are assembled by the kernel as mdvol assembled them, resynced and rebuilt, and read the
# same; then a check finds no mismatch.
#
# Here 124 states; MDVOL_TEST_FULL: 620 of another five seeds.
. "$(dirname "$0")/../support/case.sh"
need_programs mdadm linux.uml

# run_states SEED COUNT: dumps so many, and gives them to the kernel.
run_states() {
  mkdir states
  "$MDVOL_TOOLS/crash_enumeration" --guard bitmap --states 0 --seed "$1" --dump states --dump-count "$2" \
    >enumeration.out || die "seed $1: $(cat enumeration.out)"
  [ "$(wc -l <states/states)" = "$2" ] || die "seed $1: $(wc -l <states/states) states were dumped, not $2"
  [ "$(cut -d ' ' -f 2 states/states | sort -u | wc -l)" -ge 20 ] || die "seed $1: too few scenarios were dumped"
  uml_run -t $((60 + 3 * $2)) "$MDVOL_SOURCE/tests/interop/crash_states.guest.sh" >guest.out 2>&1 ||
    die "seed $1, the guest: $(tail -n 60 guest.out)"
  say "seed $1: $(tail -n 1 guest.out)"
  rm -rf states
}

if full_run; then
  for turn in 1 2 3 4 5; do run_states "$turn" 124; done
else
  run_states 1 124
fi
