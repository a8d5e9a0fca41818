#!/bin/bash
# The exerciser itself, on a plain file: it must agree with what it wrote, and see one wrong bit.
. "$(dirname "$0")/../support/case.sh"

exerciser pattern volume 6000000
[ "$(stat -c %s volume)" = 6000000 ] || die "the pattern has $(stat -c %s volume) bytes"
cp volume shadow
# Not every file system under a test can zero ranges or open with O_DIRECT; mounts of mdvol can.
exerciser write volume shadow --access buffered --zero-percent 0 --operations 800 --jobs 4 --chunk 16384
cmp volume shadow || die "volume and shadow differ after writing"
exerciser verify volume shadow --access buffered

# flip OFFSET: one bit of the volume.
flip() {
  local byte
  byte=$(od -An -tu1 -j "$1" -N 1 volume)
  printf "\\x$(printf %x $((byte ^ 1)))" | dd of=volume bs=1 seek="$1" conv=notrunc status=none
}
for offset in 0 1234567 5999999; do
  flip "$offset"
  if exerciser verify volume shadow --access buffered 2>error; then die "one wrong bit at $offset was not seen"; fi
  grep -q "volume offset $offset " error || die "wrong bit at $offset: $(cat error)"
  flip "$offset"
done
exerciser verify volume shadow --access buffered

# After a crash each byte may be one of two, and no third.
cp shadow shadow.latest
printf 'LATEST' | dd of=shadow.latest bs=1 seek=70000 conv=notrunc status=none
exerciser verify-crash volume shadow
printf 'LATEST' | dd of=shadow.latest bs=1 seek=70000 conv=notrunc status=none
printf 'LATxxx' | dd of=volume bs=1 seek=70000 conv=notrunc status=none
if exerciser verify-crash volume shadow 2>error; then die "bytes that nobody wrote were not seen"; fi
grep -q 'volume offset 70003 ' error || die "bytes that nobody wrote: $(cat error)"
