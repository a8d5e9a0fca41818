#!/bin/bash
# A mounted array is as slow as the disks that [member_model] makes of its members: kinds, numbers, members that are
# added while it runs, and none.
. "$(dirname "$0")/../support/case.sh"
. "$MDVOL_SOURCE/tests/support/volume.sh"
need_programs fio jq

seconds=2
tries=5
if full_run; then seconds=5; fi

# mount_model LINE...: mounts MEMBERS with these lines as [member_model].
mount_model() {
  printf '%s\n' '[member_model]' "$@" >model.toml
  mount_volume mnt --config model.toml
  ! grep -q 'does not act on' mount.out || die "mount with $*: $(cat mount.out)"
}

# run_fio KEY OPTION...: prints the number behind KEY (of jobs[0].read) of a run on the volume.
run_fio() {
  local key=$1
  shift
  timeout -k 5 120 fio --name=model --filename="$CASE_DIR/mnt/volume" --direct=1 --output-format=json --time_based \
    --runtime="$seconds" --output=fio.json "$@" >fio.out 2>&1 || die "fio $*: $(cat fio.out)"
  jq ".jobs[0].read.$key | floor" fio.json
}

# expect_between LOW HIGH SLOW WHAT COMMAND...: what the command prints. A machine that is busy is slow for a while, so
# there are several tries, but only for what is off to the side SLOW (above, below): faster than the model is an error.
expect_between() {
  local low=$1 high=$2 slow=$3 what=$4 try value
  shift 4
  for ((try = 0; try < tries; try++)); do
    value=$("$@")
    say "$what: $value, expected $low to $high"
    if [ "$value" -ge "$low" ] && [ "$value" -le "$high" ]; then return; fi
    if [ "$slow" = above ] && [ "$value" -lt "$low" ]; then break; fi
    if [ "$slow" = below ] && [ "$value" -gt "$high" ]; then break; fi
  done
  die "$what: $value, expected $low to $high"
}

# The median, which pauses of a busy machine do not move.
random_latency_ns() { run_fio 'clat_ns.percentile."50.000000"' --rw=randread --bs=4k --ioengine=psync; }
stream_bytes_per_s() { run_fio bw_bytes --rw=read --bs=1M --ioengine=libaio --iodepth=4; }

# column NAME: of the iostat line of member $1.
column() {
  awk -v member="$1" -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i }
                                   $1 == member { print $at }' mnt/iostat
}

name_members 6
create_array 32M --chunk 16K

# ---- a kind: a 4 KiB read takes 108 us on the member ----------------------------------------------------------------
mount_model 'kind = "ssd"'
expect_between 108000 216000 above "ssd, 4K random, ns" random_latency_ns
stop_volume mnt

# ---- 8 ms, or a little less: some reads are a small gap ahead of the last one on the member -------------------------
mount_model 'kind = "hdd"'
expect_between 7500000 16000000 above "hdd, 4K random, ns" random_latency_ns
stop_volume mnt

# ---- numbers: data disks x bandwidth, for P and Q in between (32 KiB, 3.1 ms) pass under the head --------------------
mount_model 'seek_us = 4000' 'bandwidth = "10M"'
whole=$((4 * 10485760))
expect_between $((whole / 2)) $((whole * 21 / 20)) below "10 MiB/s, stream, bytes/s" stream_bytes_per_s
stop_volume mnt

# ---- a member that is added later is modelled too -------------------------------------------------------------------
mount_model 'latency_us = 5000'
mdvol fail mnt 5
mdvol remove mnt 5
truncate -s 33M new.img
mdvol add mnt new.img
mdvol wait mnt >wait.out 2>&1 || die "wait: $(cat wait.out)"
mean_us=$(column new.img w_mean_us)
[ "${mean_us%.*}" -ge 5000 ] || die "writes of the new member took $mean_us us, not 5000: $(cat mnt/iostat)"
say "added: $mean_us us a write"
MEMBERS[5]=$CASE_DIR/new.img
stop_volume mnt

# ---- and none is none -----------------------------------------------------------------------------------------------
mount_model 'kind = "none"'
dd if=mnt/volume of=/dev/null iflag=direct bs=64K count=64 status=none
mean_us=$(column d0.img r_mean_us)
[ "${mean_us%.*}" -lt 4000 ] || die "without a model a read took $mean_us us"
stop_volume mnt
