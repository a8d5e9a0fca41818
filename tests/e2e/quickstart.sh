#!/bin/bash
# examples/quickstart.sh from a copy of the sources, as its readers run it: it must succeed without root where the
# packages are there, within its five minutes, and leave nothing behind.
. "$(dirname "$0")/../support/case.sh"

mkdir clone scratch home
tar -C "$MDVOL_SOURCE" --exclude=./build --exclude=./.git -c . | tar -C clone -x
HOME=$CASE_DIR/home TMPDIR=$CASE_DIR/scratch timeout -k 10 540 clone/examples/quickstart.sh >quickstart.out 2>&1 ||
  die "exit $?: $(tail -n 40 quickstart.out)"
for words in 'array/volume' '\[6/6\] \[UUUUUU\]' '\[6/4\] \[U_UU_U\]' 'the same 104857600 bytes' 'Raid Level : raid6' \
  'Checksum : .* - correct'; do
  grep -qE "$words" quickstart.out || die "no '$words' in: $(cat quickstart.out)"
done
[ -z "$(ls -A scratch)" ] || die "left behind: $(ls -A scratch)"
! grep -qF " $CASE_DIR/" /proc/self/mountinfo || die "a mount is left"
