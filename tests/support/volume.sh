# shellcheck shell=bash
# Arrays and mounts for test scripts; after case.sh. Every mount made here is unmounted at the script's end, and its
# daemon ended by its process id, whatever happened.

MEMBERS=()

mdvol() { timeout -k 5 "${MDVOL_COMMAND_LIMIT:-120}" "$MDVOL_BIN" "$@"; }

# name_members COUNT [PREFIX]: MEMBERS becomes PREFIX0.img, …
name_members() {
  local i
  MEMBERS=()
  for ((i = 0; i < $1; i++)); do MEMBERS+=("$CASE_DIR/${2:-d}$i.img"); done
}

# create_array SIZE OPTION...: an array of the image files MEMBERS, which do not exist yet.
create_array() {
  local size=$1
  shift
  mdvol create --raid-devices "${#MEMBERS[@]}" --size "$size" "$@" "${MEMBERS[@]}" >create.out 2>&1 ||
    die "mdvol create --size $size $* (${#MEMBERS[@]} members): $(cat create.out)"
}

# mount_volume MOUNTPOINT OPTION...: mounts MEMBERS.
mount_volume() {
  local mountpoint=$1
  shift
  mkdir -p "$mountpoint"
  # Once is enough for all mounts there: looking for a daemon takes its time where many processes run.
  case " ${exit_commands[*]}" in
    *" drop_mount $(printf '%q ' "$(readlink -f "$mountpoint")")"*) ;;
    *) on_exit drop_mount "$(readlink -f "$mountpoint")" ;;
  esac
  mdvol mount "$@" "${MEMBERS[@]}" "$mountpoint" >mount.out 2>&1 </dev/null || die "mdvol mount $*: $(cat mount.out)"
  [ -e "$mountpoint/volume" ] || die "mdvol mount has returned, and there is no $mountpoint/volume"
}

is_mounted() { grep -qF " $(readlink -m "$1") " /proc/self/mountinfo; }

# daemon_of MOUNTPOINT: the process id of the daemon behind it; fails when there is none. The mountpoint on its command line
# is resolved from the folder that it was started in, which its environment remembers: other tests have a "mnt" too.
daemon_of() {
  local mountpoint process folder
  local -a words
  mountpoint=$(readlink -m "$1")
  for process in /proc/[0-9]*; do
    { mapfile -d "" -t words <"$process/cmdline"; } 2>/dev/null || continue
    [ "${#words[@]}" -ge 3 ] && [ "$(basename "${words[0]}")" = "$(basename "$MDVOL_BIN")" ] || continue
    [ "${words[1]}" = mount ] || continue
    folder=$(tr '\0' '\n' <"$process/environ" 2>/dev/null | sed -n 's/^PWD=//p')
    if [ "$(cd "${folder:-/}" 2>/dev/null && readlink -m "${words[-1]}")" = "$mountpoint" ]; then
      echo "${process#/proc/}"
      return 0
    fi
  done
  return 1
}

# A process whose first thread is a zombie lives, and holds its files, while it has other threads. Each fact is read
# once, so that a process that is being reaped cannot look alive.
is_alive() {
  local state tasks
  state=$(sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' "/proc/$1/status" 2>/dev/null) || return 1
  tasks=$(ls "/proc/$1/task" 2>/dev/null | wc -l)
  [[ -n $state ]] && { [[ $state != [ZX] ]] || [[ $tasks -gt 1 ]]; }
}

# wait_for SECONDS COMMAND...: until the command succeeds.
wait_for() {
  local ticks=$(($1 * 20))
  shift
  until "$@"; do
    ticks=$((ticks - 1))
    [ "$ticks" -gt 0 ] || return 1
    sleep 0.05
  done
}

is_gone() { ! is_alive "$1"; }

# drop_mount MOUNTPOINT: for the end of a script, quietly.
drop_mount() {
  local pid
  pid=$(daemon_of "$1") || pid=
  if is_mounted "$1"; then
    fusermount3 -u -z -q "$1" 2>/dev/null || umount -l "$1" 2>/dev/null
  fi
  if [ -n "$pid" ]; then
    wait_for 5 is_gone "$pid" || kill -KILL "$pid" 2>/dev/null
    wait_for 5 is_gone "$pid"
  fi
}

# stop_volume MOUNTPOINT: as a user stops it; the mount and the daemon must be gone when it returns.
stop_volume() {
  local pid
  pid=$(daemon_of "$1") || die "$1: no daemon to stop"
  mdvol stop "$1" >stop.out 2>&1 || die "mdvol stop: $(cat stop.out)"
  ! is_alive "$pid" || die "mdvol stop has returned while its daemon $pid lives"
  ! is_mounted "$1" || die "mdvol stop has returned and $1 is still mounted"
}

# from_members MOUNTPOINT COMMAND...: every member in sync has been read while the command ran. The page cache holds what
# was written through it, and would hide a decoder that computes nonsense; what says how often a member was read does
# not. The command ends the script itself when it fails.
from_members() {
  local mountpoint=$1 name reads
  local -A before=()
  shift
  while read -r name reads _; do before[$name]=$reads; done < <(tail -n +2 "$mountpoint/iostat")
  "$@"
  while read -r name reads _; do
    case $(cat "$mountpoint/md/dev-$name/state") in
      in_sync*) [ "$reads" -gt "${before[$name]}" ] || die "$*: $name has not been read: the page cache has answered" ;;
    esac
  done < <(tail -n +2 "$mountpoint/iostat")
}

# forget_pages FILE: the page cache drops what it holds of the file.
forget_pages() { dd if="$1" iflag=nocache count=0 status=none; }

# flip_bit FILE OFFSET: the lowest bit of this byte; twice is never.
flip_bit() {
  local byte
  byte=$(od -An -tu1 -j "$2" -N 1 "$1")
  printf '%b' "\\x$(printf %x $((byte ^ 1)))" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# refuses STATUS REGEX COMMAND...: the command must exit with STATUS (a regex: 1, [12]) and say exactly one line on standard error, which
# matches REGEX (extended, any case), and be done within seconds. MDVOL_ABOUT: said first when it does not.
refuses() {
  local expected=$1 pattern=$2 status=0 about=${MDVOL_ABOUT:-}
  shift 2
  timeout -k 5 60 "$@" >refuses.out 2>refuses.err </dev/null || status=$?
  [[ $status =~ ^$expected$ ]] || die "$about$*: exit $status, expected $expected: $(cat refuses.err)"
  [ "$(wc -l <refuses.err)" = 1 ] || die "$about$*: expected one line on standard error: $(cat refuses.err)"
  grep -qiE -e "$pattern" refuses.err || die "$about$*: expected /$pattern/ in: $(cat refuses.err)"
}

# fingerprint FILE...: length, content and time of last change of each.
fingerprint() {
  stat -c '%n %s %y' "$@"
  sha1sum "$@"
}

# examine_members STATE ARRAY_STATE MEMBER...: mdadm accepts each and says this of it, "clean" and "AAAAAA" say.
examine_members() {
  local state=$1 array_state=$2 member
  shift 2
  for member in "$@"; do
    mdadm --examine "$member" >examine.out 2>&1 || die "mdadm --examine $member: $(cat examine.out)"
    grep -qE '^ *Checksum : .* - correct$' examine.out || die "$member: checksum: $(cat examine.out)"
    grep -qE "^ *State : $state\$" examine.out || die "$member: not $state: $(cat examine.out)"
    grep -qE "^ *Array State : $array_state " examine.out || die "$member: not $array_state: $(cat examine.out)"
  done
}

# detach_own DEVICE: at a script's end; only while it is still on a file of this script, for loop devices are handed on.
detach_own() {
  local backing=/sys/block/${1#/dev/}/loop/backing_file
  case $(cat "$backing" 2>/dev/null) in
    "$CASE_DIR"/*) losetup --detach "$1" ;;
  esac
}
