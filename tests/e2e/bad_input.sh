#!/bin/bash
# Bad input: one clear line each, exit 1 or 2, not one byte of any member changed, nothing mounted, no crash.
. "$(dirname "$0")/../support/case.sh"
. "$MDVOL_SOURCE/tests/support/volume.sh"
need_programs python3 mdadm fusermount3

superblock() { python3 "$MDVOL_SOURCE/tests/e2e/superblock.py" "$@"; }

# rejects STATUS REGEX MEMBER...: mount refuses these members, and examine survives them.
rejects() {
  local status=$1 pattern=$2
  shift 2
  fingerprint "$@" >before
  refuses "$status" "$pattern" "$MDVOL_BIN" mount "$@" mnt
  refuses "$status" "$pattern" "$MDVOL_BIN" mount --force --run "$@" mnt
  ! is_mounted mnt || die "refused and mounted all the same: $pattern"
  local examined=0
  timeout 60 "$MDVOL_BIN" examine "$@" >examine.out 2>&1 || examined=$?
  [ "$examined" -le 2 ] || die "examine: exit $examined: $(cat examine.out)"
  fingerprint "$@" >after
  cmp -s before after || die "members were changed: $pattern"
}

# fresh: members a0 … a5 as they were created.
fresh() { cp --sparse=always pristine/a?.img .; }

mkdir mnt pristine
name_members 6 pristine/a
create_array 4M --name first
name_members 4 pristine/b
create_array 4M --name second
cp --sparse=always pristine/b?.img .
fresh
name_members 6 a
a=("${MEMBERS[@]}")

# ---- Files ----------------------------------------------------------------------------------------
truncate -s 8M blank.img
head -c 5000 /dev/zero >short.img
: >empty.img
rejects 1 'blank\.img.*(no md (metadata|superblock)|metadata)' blank.img "${a[@]:1}"
rejects 1 'empty\.img' empty.img "${a[@]:1}"
rejects 1 'short\.img' short.img "${a[@]:1}"
refuses 1 'absent\.img.*no such file' "$MDVOL_BIN" mount "${a[@]:0:5}" absent.img mnt
refuses 1 'mnt' "$MDVOL_BIN" mount "${a[@]:0:5}" "$CASE_DIR/mnt" mnt
mkfifo pipe.img
refuses 1 'pipe\.img' "$MDVOL_BIN" mount "${a[@]:0:5}" pipe.img mnt
say "files without metadata"

# ---- Members --------------------------------------------------------------------------------------
rejects 1 '(array|uuid)' "${a[@]:0:3}" b2.img b3.img
rejects 1 '(array|uuid)' b0.img "${a[@]}"
rejects 1 '(twice|same)' "${a[@]}" a0.img
ln -s a0.img symbolic.img
ln a0.img hard.img
rejects 1 '(twice|same)' "${a[@]}" symbolic.img
rejects 1 '(twice|same)' "${a[@]}" hard.img
cp --sparse=always a0.img copy.img
rejects 1 '(twice|same|duplicate|two members)' "${a[@]}" copy.img
rm symbolic.img hard.img copy.img
rejects 1 '(too few|3 of 6|missing|not enough)' "${a[@]:0:3}"
refuses 1 '--run' "$MDVOL_BIN" mount "${a[@]:0:5}" mnt
refuses 1 '--run' "$MDVOL_BIN" mount "${a[@]:0:4}" mnt
cp --sparse=always a2.img truncated.img
truncate -s 2M truncated.img
rejects 1 'truncated\.img.*(short|small|end|size|holds|bytes)' "${a[@]:0:2}" truncated.img "${a[@]:3}"
say "members that do not fit together"

# ---- Superblocks ----------------------------------------------------------------------------------
superblock set a1.img sb_csum=12345
rejects 1 'a1\.img.*(checksum|csum)' "${a[@]}"
fresh
# A bit of the superblock that no field check would see.
superblock set a1.img utime=1
superblock set a1.img "sb_csum=$(($(superblock get a1.img sb_csum) ^ 1))"
rejects 1 'a1\.img.*(checksum|csum)' "${a[@]}"

hostile=(magic=0 major_version=0 major_version=2 feature_map=0x10000 feature_map=4 feature_map=1024 feature_map=256
  pad0=1 pad3=1 level=5 level=-1 level=1000 layout=6 layout=7 layout=11 layout=21 layout=0xffffffff
  size=0 size=0xffffffffffffffff size=0x8000000000000000 size=0x7fffffffffffff00 size=1000000000
  chunksize=0 chunksize=1 chunksize=4 chunksize=3 chunksize=1000 chunksize=0xffffffff chunksize=0x80000000
  raid_disks=0 raid_disks=1 raid_disks=3 raid_disks=256 raid_disks=65535 raid_disks=0xffffffff
  bitmap_offset=0 bitmap_offset=1 bitmap_offset=-8 bitmap_offset=0x7fffffff bitmap_offset=-0x80000000 bitmap_offset=4096
  data_offset=0 data_offset=8 data_offset=0xffffffffffffffff data_offset=0xfffffffffffff000 data_offset=1000000
  data_size=0 data_size=9 data_size=0xffffffffffffffff data_size=1000000 super_offset=0 super_offset=16
  super_offset=0xffffffffffffffff max_dev=0 max_dev=1921 max_dev=65535 max_dev=0xffffffff
  bblog_offset=0x7fffffff bblog_offset=1 bblog_offset=-0x80000000 bblog_offset=4000 bblog_size=65535
  bitmap.magic=0 bitmap.version=99 bitmap.chunksize=0 bitmap.chunksize=3 bitmap.chunksize=0x80000000
  bitmap.sync_size=0 bitmap.sync_size=0xffffffffffffffff bitmap.daemon_sleep=0 bitmap.uuid=1)

# complaint FIELD=VALUE: what is to be said of it: the member, and the field or the words that go with it.
complaint() {
  case $1 in
    max_dev=0) echo 'no member that is in a slot' ;;  # Said of all: each is a spare then.
    magic=*) echo 'a0\.img: no md superblock' ;;
    pad?=*) echo 'a0\.img: .*padding' ;;
    feature_map=4) echo 'a0\.img: .*reshape' ;;
    size=0) echo 'a0\.img: .*component size 0' ;;
    size=*) echo 'a0\.img: .*[^_]size [0-9]+: ' ;;
    chunksize=*) echo 'a0\.img: .*chunk size [0-9]+' ;;
    bitmap_offset=*) echo 'a0\.img: .*bitmap' ;;
    bblog_offset=*) echo 'a0\.img: .*bad-block log \(' ;;
    bitmap.magic=*) echo 'a0\.img: .*bitmap: magic' ;;
    bitmap.uuid=*) echo 'a0\.img: .*bitmap belongs to array' ;;
    bitmap.*) echo "a0\.img: .*bitmap $(cut -d . -f 2 <<<"${1%=*}") [0-9]+" ;;
    *) echo "a0\.img: .*${1%=*} (0x)?[-0-9]+" ;;
  esac
}

# One field of all members at once: the members agree with each other, and are still nonsense.
for change in "${hostile[@]}"; do
  fresh
  superblock set "${a[@]}" "$change"
  status=0
  fingerprint "${a[@]}" >before
  timeout 60 "$MDVOL_BIN" examine "${a[@]}" >examine.out 2>&1 || status=$?
  [ "$status" -le 1 ] || die "$change: examine: exit $status: $(cat examine.out)"
  case $change in
    # What the kernel lets pass, too: one bit for everything, and a size that is only looked at when it is too small.
    bitmap.chunksize=0x80000000 | bitmap.sync_size=0xffffffffffffffff)
      MEMBERS=("${a[@]}")
      mount_volume mnt --read-only
      stop_volume mnt
      ;;
    *)
      for options in "" "--force --run" --read-only; do
        # shellcheck disable=SC2086
        MDVOL_ABOUT="$change: " refuses 1 "$(complaint "$change")" "$MDVOL_BIN" mount $options "${a[@]}" mnt
      done
      ;;
  esac
  ! is_mounted mnt || die "$change: mounted"
  fingerprint "${a[@]}" >after
  cmp -s before after || die "$change: members were changed"
done
say "${#hostile[@]} hostile values"

# Members that disagree with each other.
for change in level=5 layout=3 chunksize=256 raid_disks=5 size=4096; do
  fresh
  superblock set a3.img "$change"
  rejects 1 'a[0-9]\.img' "${a[@]}"
done
# Two present members that claim one slot: the number of another member, and a table with one slot twice.
fresh
superblock set a1.img "dev_number=$(superblock get a0.img dev_number)"
rejects 1 '(slot|role|same|twice|number)' "${a[@]}"
fresh
superblock set "${a[@]}" 'role[1]=0'
rejects 1 '(slot|role|same|claim)' "${a[@]}"
# A slot that the array does not have: to the kernel the member is a spare, and its bytes are not trusted.
fresh
superblock set "${a[@]}" 'role[1]=1234'
MEMBERS=("${a[@]}")
mount_volume mnt --read-only
[ "$(cat mnt/md/degraded)" = 1 ] || die "a member with slot 1234 counts as in sync"
stop_volume mnt
say "members that disagree"

# ---- What newer kernels write is accepted and kept ---------------------------------------------------
fresh
superblock set "${a[@]}" logical_block_size=4096
MEMBERS=("${a[@]}")
mount_volume mnt
printf 'written' | dd of=mnt/volume bs=1 seek=5000 conv=notrunc,fsync status=none
stop_volume mnt
for member in "${a[@]}"; do
  [ "$(superblock get "$member" logical_block_size)" = 4096 ] || die "$member: logical_block_size was not kept"
done
say "logical_block_size is kept"

# ---- Configuration ----------------------------------------------------------------------------------
fresh
fingerprint "${a[@]}" >before
# bad_config REGEX: the configuration on standard input is refused, with file, line and column.
bad_config() {
  cat >array.toml
  refuses 2 "array\\.toml:[0-9]+:[0-9]+.*$1" "$MDVOL_BIN" mount --config array.toml mnt
}
bad_config 'membrs' <<<$'[array]\nmembrs = ["a0.img"]'
bad_config 'colour' <<<$'[array]\nmembers = ["a0.img"]\n[colour]\nred = 1'
bad_config 'read_only' <<<$'[array]\nmembers = ["a0.img"]\nread_only = "yes"'
bad_config 'threads' <<<$'[array]\nmembers = ["a0.img"]\n[io]\nthreads = -3'
bad_config 'backend' <<<$'[array]\nmembers = ["a0.img"]\n[io]\nbackend = "carrier-pigeon"'
bad_config 'array' <<<$'[array]\nmembers = ["a0.img"\n'
bad_config 'array' <<<$'[array]\nmembers = ["a0.img"]\n[array]\nread_only = true'
refuses '[12]' 'absent\.toml' "$MDVOL_BIN" mount --config absent.toml mnt
fingerprint "${a[@]}" >after
cmp -s before after || die "a bad configuration has changed members"
say "configurations"

# ---- Mountpoints --------------------------------------------------------------------------------------
refuses 1 'no-such-folder.*' "$MDVOL_BIN" mount "${a[@]}" no-such-folder
echo text >a-file
refuses 1 'a-file.*(director|folder)' "$MDVOL_BIN" mount "${a[@]}" a-file
MEMBERS=("${a[@]}")
mount_volume mnt
refuses 1 'mnt.*(busy|mount|use)' "$MDVOL_BIN" mount b?.img mnt
fingerprint "${a[@]}" >/dev/null

# ---- Members that someone else holds --------------------------------------------------------------------
mkdir other
refuses 1 'a[0-5]\.img.*(held|lock|use|busy)' "$MDVOL_BIN" mount "${a[@]}" other
refuses 1 'a[0-5]\.img.*(held|lock|use|busy)' "$MDVOL_BIN" mount --read-only "${a[@]}" other
refuses 1 'a[0-5]\.img.*(held|lock|use|busy)' "$MDVOL_BIN" create --force --assume-clean --raid-devices 6 "${a[@]}"
stop_volume mnt
fingerprint "${a[@]}" >before
exec {held}<a4.img
flock --exclusive "$held"
refuses 1 'a4\.img.*(held|lock|use|busy)' "$MDVOL_BIN" mount "${a[@]}" mnt
exec {held}<&-
fingerprint "${a[@]}" >after
cmp -s before after || die "a mount that was refused has changed members"
mount_volume mnt
stop_volume mnt
say "mountpoints and locks"

# ---- Wrong usage ------------------------------------------------------------------------------------
refuses 2 'frobnicate' "$MDVOL_BIN" frobnicate
refuses 2 'path|mountpoint' "$MDVOL_BIN" mount
refuses 2 '--no-such-option' "$MDVOL_BIN" mount --no-such-option "${a[@]}" mnt
refuses 2 '(chunk|power)' "$MDVOL_BIN" create --raid-devices 4 --size 4M --chunk 5K n0.img n1.img n2.img n3.img
refuses 2 'layout' "$MDVOL_BIN" create --raid-devices 4 --size 4M --layout zigzag n0.img n1.img n2.img n3.img
refuses 2 '(raid-devices|members|4)' "$MDVOL_BIN" create --raid-devices 3 --size 4M n0.img n1.img n2.img
refuses 2 '4 members.*5' "$MDVOL_BIN" create --raid-devices 5 --size 4M n0.img n1.img n2.img n3.img
refuses '[12]' 'a0\.img.*(metadata|--force|array)' "$MDVOL_BIN" create --raid-devices 4 --assume-clean "${a[@]:0:4}"
for file in n?.img; do [ ! -e "$file" ] || die "a create that was refused has left $file"; done
refuses 1 'mnt: no array' "$MDVOL_BIN" stop mnt
refuses 1 'no-such-folder: ' "$MDVOL_BIN" detail no-such-folder
say "wrong usage"
