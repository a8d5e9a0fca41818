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
printf '12 5\n70003 2\n' >exempt
if exerciser verify-crash volume shadow --exempt exempt 2>error; then die "a wrong byte behind an exempt range was not seen"; fi
grep -q 'volume offset 70005 ' error || die "bytes that nobody wrote, two of three exempt: $(cat error)"
printf '12 5\n70003 3\n' >exempt
exerciser verify-crash volume shadow --exempt exempt
cmp volume shadow || die "the shadow has not become what the volume holds"
echo '12 x' >exempt
if exerciser verify-crash volume shadow --exempt exempt 2>error; then die "nonsense was taken for a range"; fi

# Bounds are kept to.
cp volume before
exerciser write volume shadow --access buffered --zero-percent 0 --operations 300 --begin 1000000 --end 3000000 --chunk 16384
cmp -n 1000000 volume before && cmp -i 3000000 volume before || die "written outside of --begin and --end"
if cmp -s volume before; then die "nothing was written"; fi
