# shellcheck shell=bash disable=SC2154
# For soak.sh: the rounds, after soak_steps.sh. `shadow` is what the volume must read as. The script that sources this
# has set `seed`, `raid_disks`, `pool` and `volume_mib`.

# ---- Rounds with random steps ----------------------------------------------------------------------------------------
# step_while PID ROUND: random steps as long as the process works, which must end well.
step_while() {
  local status=0
  while is_alive "$1"; do
    random_step
    sleep "0.$((RANDOM % 20 + 100))"
    [ $((SECONDS - round_began)) -lt 120 ] || die "round $2: the writers hang: $(cat mnt/mdstat)"
  done
  wait "$1" || status=$?
  [ "$status" = 0 ] || die "round $2: the writers: exit $status: $(cat writer.out)"
  expect_alive
}

# go_on ROUND: stops the daemon, kills it while nobody writes, or lets it be.
go_on() {
  case $((RANDOM % 4)) in
    0)
      step "stop"
      stop_volume mnt
      mount_again
      note stop
      ;;
    1 | 2)
      sync mnt/volume
      step "kill, $(degraded) degraded, nobody writing"
      kill_daemon
      mount_again --force
      note kill-between
      ;;
  esac
  verify "round $1, at its end"
}

# The exerciser writes anywhere: 1 byte to three stripes, holes too.
busy_round() {
  exerciser write mnt/volume shadow --members "$raid_disks" --chunk 65536 --operations 3000 --jobs 3 --read-percent 30 \
    --seed-name "soak-$seed-$1" >writer.out 2>&1 &
  step_while $! "$1"
  verify "round $1"
  go_on "$1"
}

# run_fio FILE BASE_MIB SEED OPTION...: soak.fio on FILE, from BASE_MIB on. check_fio: what it wrote with this SEED is there.
run_fio() {
  local at=$(($2 * 1048576)) mib=1048576
  VOLUME=$1 SEED=$3 RATE=${fio_rate:-0} DIRECT=${fio_direct:-0} AT0=$at AT1=$((at + 8 * mib)) AT2=$((at + 16 * mib)) \
    AT3=$((at + 24 * mib)) AT4=$((at + 30 * mib)) \
    timeout -k 5 120 fio --output=fio.out "${@:4}" "$MDVOL_SOURCE/tests/e2e/soak.fio" 2>fio.err && return
  echo "fio $*: $(head -c 2000 fio.err) $(grep -iE 'err|verify|bad' fio.out | head -n 20)"
  return 1
}
check_fio() { run_fio "$@" --verify_only; }

# fio writes 32 MiB, checks them when it has written, after the last step, and where the shadow has taken them over: it is
# fio that vouches for the shadow then, across kills too.
fio_round() {
  local base=$((RANDOM % (volume_mib / 32) * 32)) direct=$((RANDOM % 2)) fio_seed=$((RANDOM + 1))
  step "fio from $base MiB on, direct=$direct, seed $fio_seed"
  fio_rate=4m fio_direct=$direct run_fio mnt/volume "$base" "$fio_seed" >writer.out 2>&1 &
  step_while $! "$1"
  fio_direct=1 check_fio mnt/volume "$base" "$fio_seed" >verify.out || die "round $1: $(cat verify.out)"
  dd if=mnt/volume of=shadow bs=1M skip="$base" seek="$base" count=32 iflag=direct conv=notrunc status=none
  check_fio shadow "$base" "$fio_seed" >verify.out || die "round $1, the shadow: $(cat verify.out)"
  note fio
  verify "round $1"
  go_on "$1"
}

# ---- Rounds that end with a kill -------------------------------------------------------------------------------------
# write_until_killed ROUND OPTION...: writers, and the kill some time after their first fsync.
begin_writing() {
  cp shadow shadow.latest
  rm -f shadow.progress
  exerciser crash mnt/volume shadow --members "$raid_disks" --chunk 65536 --jobs 3 --seed-name "soak-$seed-$1" \
    "${@:2}" >writer.out 2>&1 &
  writer=$!
  wait_for 60 test -s shadow.progress || die "round $1: no fsync has returned: $(cat writer.out)"
}
kill_while_writing() {
  local status=0
  sleep "0.$((RANDOM % 7))"
  step "kill, $(degraded) degraded, writing"
  kill_daemon
  wait "$writer" || status=$?
  [ "$status" = 0 ] || die "round $1: the writers: exit $status: $(cat writer.out)"
}

# Killed while writers write to a whole array: what was synced must be there, everywhere.
crash_round() {
  make_whole
  begin_writing "$1"
  draw run_check run_repair replace_one true
  "$drawn"
  kill_while_writing "$1"
  mount_again
  exerciser verify-crash mnt/volume shadow >verify.out 2>&1 || die "round $1, after the kill: $(cat verify.out)"
  note kill-writing
  verify "round $1, at its end"
}

# expect_exempt BEGIN END: some stripes had their bits set at the kill, none of them outside of these volume offsets.
expect_exempt() {
  local offset length
  [ -s exempt ] || die "killed while writing, and no bit is set"
  while read -r offset length; do
    [ "$offset" -ge "$1" ] && [ $((offset + length)) -le "$2" ] ||
      die "only $1 to $2 was written, and the bits of $offset to $((offset + length)) are set"
  done <exempt
}

# Killed while writers write to one sixteenth of a degraded array, all bits having been clear before. It starts again with
# --force alone, and then only the stripes whose bits were set, by the members as they were left, may hold anything; all
# else is right to the byte. $2 is called between the kill and the next start.
degraded_crash_round() {
  local part=$((volume_mib * 1048576 / 16)) begin
  make_whole
  mdvol set mnt sync_speed_max=2000
  wait_for 30 grep -q 'bitmap: 0/' mnt/mdstat || die "round $1: the bits stay: $(cat mnt/mdstat)"
  begin=$((RANDOM % 16 * part))
  fail_one
  draw fail_one true true
  "$drawn"
  begin_writing "$1" --begin "$begin" --end $((begin + part))
  draw add_blank add_blank true
  "$drawn"
  kill_while_writing "$1"
  name_all_members
  python3 "$MDVOL_SOURCE/tests/e2e/superblock.py" dirty "${MEMBERS[@]}" >exempt
  expect_exempt "$begin" $((begin + part))
  refuses 1 'not shut down cleanly.*--force' "$MDVOL_BIN" mount --run "${MEMBERS[@]}" mnt
  "${2:-true}"
  mount_volume mnt --run --force
  exerciser verify-crash mnt/volume shadow --exempt exempt >verify.out 2>&1 ||
    die "round $1, after the kill while degraded: $(cat verify.out)"
  note kill-writing-degraded
  verify "round $1, at its end"
}
