#!/bin/bash
# The volume file behaves as a block device would, under the programs that people use on one: dd, cp, mmap, several
# openers, fallocate, truncate, qemu-img. As root and as an ordinary user.
. "$(dirname "$0")/../support/case.sh"
. "$MDVOL_SOURCE/tests/support/volume.sh"
need_programs python3 qemu-img fusermount3

stripe=$((4 * 65536))
name_members 6
create_array 16M --chunk 64K
mount_volume mnt
volume=$CASE_DIR/mnt/volume
bytes=$((4 * 16 * 1048576))
exerciser pattern image "$bytes" --seed-name image

# equal FILE WHAT: both through the page cache and from the members.
equal() {
  cmp "$volume" "$1" || die "$2: the volume reads other bytes"
  from_members mnt equal_directly "$@"
}
equal_directly() {
  dd if="$volume" iflag=direct bs=1M status=none | cmp - "$1" || die "$2: the volume reads other bytes with O_DIRECT"
}
check_size() { [ "$(stat -c %s "$volume")" = "$bytes" ] || die "$1: the volume has $(stat -c %s "$volume") bytes"; }

# ---- What it looks like ---------------------------------------------------------------------------------
check_size "after the mount"
[ "$(stat -c '%F %a %u' "$volume")" = "regular empty file 600 $(id -u)" ] ||
  [ "$(stat -c '%F %a %u' "$volume")" = "regular file 600 $(id -u)" ] || die "stat: $(stat -c '%F %a %u' "$volume")"
cmp "$volume" <(head -c "$bytes" /dev/zero) || die "a fresh array must read as zeroes"
say "stat"

# ---- dd and cp ------------------------------------------------------------------------------------------
cp --sparse=never image "$volume" || die "cp --sparse=never"
equal image "cp --sparse=never"
dd if=image of=model bs=1M status=none
head -c 10000 /dev/urandom >piece
dd if=piece of="$volume" bs=1000 seek=12345 conv=notrunc status=none || die "dd seek conv=notrunc"
dd if=piece of=model bs=1000 seek=12345 conv=notrunc status=none
equal model "dd seek conv=notrunc"
dd if=piece of="$volume" bs=10000 seek=7 oflag=direct conv=notrunc status=none || die "dd oflag=direct, odd size"
dd if=piece of=model bs=10000 seek=7 conv=notrunc status=none
equal model "dd oflag=direct"
cmp <(dd if="$volume" iflag=direct bs=7000 status=none) model || die "dd iflag=direct bs=7000"
# O_TRUNC is accepted and has no effect. dd seek= without notrunc tries to cut the file: it is told no, and goes on.
dd if=piece of="$volume" status=none || die "dd with O_TRUNC"
dd if=piece of=model conv=notrunc status=none
check_size "O_TRUNC"
equal model "O_TRUNC"
dd if=piece of="$volume" bs=1000 seek=5 status=none 2>dd.err || true
grep -qi 'truncate.*not permitted' dd.err || die "dd seek without notrunc: $(cat dd.err)"
dd if=piece of=model bs=1000 seek=5 conv=notrunc status=none
check_size "dd seek without notrunc"
equal model "dd seek without notrunc"
for size in 1 5000 $((bytes - 1)) $((bytes + 1)); do
  if truncate -s "$size" "$volume" 2>truncate.err; then die "truncate to $size was accepted"; fi
  grep -qi 'not permitted' truncate.err || die "truncate to $size: $(cat truncate.err)"
done
truncate -s 0 "$volume" || die "setattr to size 0 must succeed"
truncate -s "$bytes" "$volume" || die "truncate to the size that it has"
check_size "truncate"
equal model "truncate"
say "dd, cp, truncate"

# ---- The end ----------------------------------------------------------------------------------------------
python3 - "$volume" "$bytes" <<'PYTHON' || die "the end of the volume"
import errno, os, sys
path, size = sys.argv[1], int(sys.argv[2])
for flags in (0, os.O_DIRECT):
    fd = os.open(path, os.O_RDWR | flags)
    assert os.pread(fd, 4096, size) == b"", "a read at the end"
    assert os.pread(fd, 4096, size + 12345) == b"", "a read past the end"
    assert len(os.pread(fd, 4096, size - 100)) == 100, "a read across the end"
    for offset in (size, size + 1, size + 4096):
        try:
            written = os.pwrite(fd, b"x" * 4096, offset)
            sys.exit("a write at %d: %d bytes" % (offset, written))
        except OSError as error:
            assert error.errno in (errno.ENOSPC, errno.EFBIG), error
    try:
        written = os.pwrite(fd, os.pread(fd, 100, size - 100) + b"y" * 3996, size - 100)
        assert written == 100, "a write across the end took %d bytes" % written
    except OSError as error:
        assert error.errno == errno.ENOSPC, error
    os.close(fd)
assert os.stat(path).st_size == size
PYTHON
if dd if=piece of="$volume" bs=1M seek=$((bytes / 1048576)) conv=notrunc status=none 2>dd.err; then
  die "dd past the end was accepted"
fi
grep -qi 'no space left' dd.err || die "dd past the end: $(cat dd.err)"
check_size "writes past the end"
equal model "writes past the end"
say "the end"

# ---- mmap, several openers ----------------------------------------------------------------------------------
python3 - "$volume" model <<'PYTHON' || die "mmap and several openers"
import mmap, os, sys
path, model_path = sys.argv[1:]
model = open(model_path, "r+b")
fd = os.open(path, os.O_RDWR)
other = os.open(path, os.O_RDWR)
shared = mmap.mmap(fd, 0, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)
model.seek(0)
assert shared[:1 << 20] == model.read(1 << 20), "mmap reads other bytes"
for offset in (0, 4095, 65536 - 3, 262144 * 7 + 11, len(shared) - 9):
    shared[offset:offset + 9] = b"by mmap!!"
    model.seek(offset)
    model.write(b"by mmap!!")
# Another opener's O_TRUNC throws none of these pages away.
os.close(os.open(path, os.O_RDWR | os.O_TRUNC))
assert shared[4095:4104] == b"by mmap!!"
shared.flush()
for offset in (0, 4095, 262144 * 7 + 11, len(shared) - 9):
    assert os.pread(other, 9, offset) == b"by mmap!!", "pread of another opener after msync at %d" % offset
direct = os.open(path, os.O_RDONLY | os.O_DIRECT)
assert os.pread(direct, 9, 262144 * 7 + 11) == b"by mmap!!", "O_DIRECT after msync"
# A write through a descriptor is seen in the mapping.
os.pwrite(other, b"by pwrite", 100000)
model.seek(100000)
model.write(b"by pwrite")
assert shared[100000:100009] == b"by pwrite"
os.fsync(other)
# Two processes, both writing.
if os.fork() == 0:
    for i in range(200):
        os.pwrite(other, b"child %04d" % i, 300000 + 20 * i)
    os._exit(0)
for i in range(200):
    os.pwrite(fd, b"parent%04d" % i, 300010 + 20 * i)
_, status = os.wait()
assert status == 0
for i in range(200):
    model.seek(300000 + 20 * i)
    model.write(b"child %04dparent%04d" % (i, i))
shared.close()
model.close()
PYTHON
equal model "mmap and several openers"
say "mmap, several openers"

# ---- Holes ------------------------------------------------------------------------------------------------
zero() { dd if=/dev/zero of=model bs=64K seek="$1" count="$2" oflag=seek_bytes iflag=count_bytes conv=notrunc status=none; }
allocated() { du -c --block-size=1 "${MEMBERS[@]}" | tail -1 | cut -f 1; }
before=$(allocated)
fallocate --punch-hole --offset $((stripe * 8)) --length $((stripe * 16)) "$volume" || die "punch-hole of whole stripes"
zero $((stripe * 8)) $((stripe * 16))
equal model "punch-hole of whole stripes"
after=$(allocated)
[ $((before - after)) -ge $((stripe * 16)) ] || die "punch-hole of 16 stripes gave back $((before - after)) bytes"
fallocate --punch-hole --offset 5000 --length 300001 "$volume" || die "punch-hole of odd size"
zero 5000 300001
fallocate --zero-range --keep-size --offset 700001 --length 12345 "$volume" || die "zero-range"
zero 700001 12345
equal model "punch-hole and zero-range of odd size"
if fallocate --offset "$bytes" --length 4096 "$volume" 2>/dev/null; then die "fallocate has made the volume longer"; fi
check_size "fallocate"
python3 - "$volume" $((stripe * 8)) $((stripe * 24)) <<'PYTHON' || die "SEEK_HOLE and SEEK_DATA"
import errno, os, sys
path, hole, end = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
fd = os.open(path, os.O_RDONLY)
size = os.stat(path).st_size
assert os.lseek(fd, hole + 1000, os.SEEK_HOLE) == hole + 1000, "inside the hole"
assert os.lseek(fd, hole, os.SEEK_DATA) == end, "the end of the hole: %d" % os.lseek(fd, hole, os.SEEK_DATA)
found = os.lseek(fd, hole - 100, os.SEEK_HOLE)
assert found == hole, "the next hole: %d" % found
# Whatever is called a hole must read as zeroes.
at = 0
while True:
    start = os.lseek(fd, at, os.SEEK_HOLE)
    if start >= size:
        break
    try:
        at = os.lseek(fd, start, os.SEEK_DATA)
    except OSError as error:
        assert error.errno == errno.ENXIO
        at = size
    assert os.pread(fd, at - start, start).count(0) == at - start, "data in a hole at %d" % start
    if at >= size:
        break
PYTHON
say "holes"

# ---- qemu-img ------------------------------------------------------------------------------------------------
qemu-img info --output=json -f raw "$volume" >info.json || die "qemu-img info"
[ "$(jq '."virtual-size"' info.json)" = "$bytes" ] || die "qemu-img info: $(cat info.json)"
qemu-img compare -f raw -F raw "$volume" model >compare.out || die "qemu-img compare: $(cat compare.out)"
qemu-img convert -f raw -O qcow2 "$volume" copy.qcow2 || die "qemu-img convert from the volume"
qemu-img compare -f raw -F qcow2 "$volume" copy.qcow2 >compare.out || die "qemu-img compare with the copy"
qemu-img convert -n -f raw -O raw image "$volume" || die "qemu-img convert into the volume"
equal image "qemu-img convert into the volume"
say "qemu-img"

# ---- The same again with two members lost, and what is left is what was written -----------------------------
mdvol fail mnt 0
mdvol fail mnt 3
equal image "two members lost"
dd if=piece of="$volume" bs=1000 seek=54321 conv=notrunc,fsync status=none
dd if=piece of=image bs=1000 seek=54321 conv=notrunc status=none
equal image "written with two members lost"
stop_volume mnt
mount_volume mnt --run
equal image "after the next mount"
stop_volume mnt
say "two members lost"
