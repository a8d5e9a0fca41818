#!/bin/bash
# switch_policies.sh: the policies of every family are switched, a thousand times each, while fio writes and
# checks, a check runs, and a member is missing for the second half. Nothing stalls, no byte differs.
. "$(dirname "$0")/../support/case.sh"
. "$MDVOL_SOURCE/tests/support/volume.sh"
need_programs fio fusermount3 jq
test_seed switch_policies
RANDOM=$((seed % 32768))

switches=5000
if full_run; then switches=50000; fi

run_fio() {
  VOLUME=$CASE_DIR/mnt/volume DIRECT=1 MIB=16 timeout -k 5 600 fio --output=fio.out "$@" \
    "$MDVOL_SOURCE/examples/fio/verify.fio" 2>fio.err ||
    die "fio $*: $(cat fio.err) $(grep -iE 'err|verify|bad' fio.out | head -n 20)"
}

# Until the file `stop` is there.
write_and_check_on() {
  local rounds=0
  until [ -e stop ]; do
    run_fio
    rounds=$((rounds + 1))
  done
  echo "$rounds" >rounds
}

check_on() {
  until [ -e stop ]; do
    mdvol check mnt 2>check.err || grep -q 'is running' check.err || die "check: $(cat check.err)"
    sleep 0.05
  done
}

# Sets `ms`, milliseconds since the epoch.
now_ms() {
  local us=${EPOCHREALTIME/./}
  ms=$((us / 1000))
}
# Sets `line`, as the file reads, and `names`.
read_names() {
  read -r line <"mnt/md/policy/$1"
  read -ra names <<<"${line//[][]/}"
}

name_members 6
create_array 48M --chunk 64K
mount_volume mnt
mapfile -t families < <(jq -r '.policies | keys[]' mnt/status.json)
[ "${#families[@]}" = 5 ] || die "families: ${families[*]}"

write_and_check_on &
fio=$!
check_on &
check=$!
longest_ms=0
now_ms
begin_ms=$ms
for ((i = 0; i < switches; i++)); do
  family=${families[i % 5]}
  read_names "$family"
  name=${names[RANDOM % ${#names[@]}]}
  now_ms
  before_ms=$ms
  echo "$name" >"mnt/md/policy/$family" || die "switch $i, $family to $name"
  now_ms
  longest_ms=$((ms - before_ms > longest_ms ? ms - before_ms : longest_ms))
  read_names "$family"
  [[ $line == *"[$name]"* ]] || die "$family reads $line after $name"
  if [ "$i" = $((switches / 2)) ]; then mdvol fail mnt 1 || die "fail"; fi
done
now_ms
say "$switches switches in $((ms - begin_ms)) ms, the longest $longest_ms ms"
[ "$longest_ms" -lt 5000 ] || die "a switch took $longest_ms ms"

# Back to the defaults, under which whatever was held back must go on.
for family in "${families[@]}"; do
  read_names "$family"
  echo "${names[0]}" >"mnt/md/policy/$family"
done
: >stop
status=0
wait "$fio" || status=$?
[ "$status" = 0 ] || die "fio: exit $status"
wait "$check" || die "check: exit $?"
mdvol idle mnt || die "idle"
from_members mnt run_fio --verify_only
say "fio: $(cat rounds) rounds, all as written"
stop_volume mnt
