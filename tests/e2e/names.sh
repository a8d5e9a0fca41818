#!/bin/bash
# Members with unusual names: each can be looked at and failed, columns stay columns, and a word that means two members
# fails none.
. "$(dirname "$0")/../support/case.sh"
. "$MDVOL_SOURCE/tests/support/volume.sh"
need_programs mdadm fusermount3 jq
on_exit drop_mount "$CASE_DIR/mnt"
mkdir mnt

# ---- Blanks, control characters, bytes that are not UTF-8 ----------------------------------------------------------
mkdir odd
MEMBERS=("$CASE_DIR/odd/a b.img" "$CASE_DIR/odd/"$'d\xff.img' "$CASE_DIR/odd/"$'t\tn\n.img' "$CASE_DIR/odd/back\\slash"
  "$CASE_DIR/odd/é.img" "$CASE_DIR/odd/plain")
create_array 4M --chunk 64K
mount_volume mnt
[ "$(awk '{print NF}' mnt/iostat | sort -u)" = 13 ] || die "iostat: columns have shifted: $(cat mnt/iostat)"
[ "$(wc -l <mnt/iostat)" = 7 ] || die "iostat: lines: $(cat mnt/iostat)"
[ "$(sed -n 2p mnt/mdstat | wc -w)" = 10 ] || die "mdstat: columns have shifted: $(cat mnt/mdstat)"
[ "$(wc -l <mnt/mdstat)" = 6 ] || die "mdstat: lines: $(cat mnt/mdstat)"
expected='a\040b.img d\377.img t\011n\012.img back\134slash é.img plain'
[ "$(jq -r '[.members[].name] | join(" ")' mnt/status.json)" = "$expected" ] || die "names: $(cat mnt/status.json)"
for name in $expected; do
  [ "$(cat "mnt/md/dev-$name/state")" = in_sync ] || die "md/dev-$name/state"
done
[ "$(readlink mnt/md/rd1)" = 'dev-d\377.img' ] || die "md/rd1: $(readlink mnt/md/rd1)"
mdvol map mnt --offset 0 | awk '{exit NF != 13}' || die "map: columns have shifted"
mdvol map "${MEMBERS[@]}" --offset 0 | awk '{exit NF != 13}' || die "map: columns have shifted"
mdvol fail mnt 1 || die "fail 1"
[ "$(cat 'mnt/md/dev-d\377.img/state')" = faulty ] || die "fail 1: another has failed"
mdvol fail mnt 'a b.img' || die "fail 'a b.img'"
[ "$(cat 'mnt/md/dev-a\040b.img/state')" = faulty ] || die "fail 'a b.img': another has failed"
stop_volume mnt
say "names that are no words"

# Each on an array of its own, by every word for it.
for index in 0 1 2 3; do
  name=$(cut -d ' ' -f $((index + 1)) <<<"$expected")
  for word in "$name" "$(basename "${MEMBERS[index]}")" "${MEMBERS[index]}" "odd/../odd/$(basename "${MEMBERS[index]}")"; do
    rm -f odd/*
    create_array 4M --chunk 64K
    mount_volume mnt
    mdvol map mnt --member "$name" --offset 1M >map.out || die "map --member $name"
    mdvol fail mnt "$word" || die "fail $word"
    [ "$(jq -c '[.members[] | select(.role == "faulty") | .name]' mnt/status.json | jq -r '.[]')" = "$name" ] ||
      die "fail $word: $(mdvol status mnt)"
    stop_volume mnt
  done
done
say "failing each"

# ---- Names that are numbers ------------------------------------------------------------------------------------------
mkdir number
MEMBERS=("$CASE_DIR/number/1" "$CASE_DIR/number/0" "$CASE_DIR/number/2" "$CASE_DIR/number/9")
create_array 4M --chunk 64K
mount_volume mnt
refuses 1 "'0' means two members, .*/1 and .*/0: give a path" "$MDVOL_BIN" fail mnt 2 0
refuses 1 "'1' means two members" "$MDVOL_BIN" fail mnt 1
refuses 2 "'1' means two members" "$MDVOL_BIN" map mnt --member 1 --offset 1M
[ "$(cat mnt/md/degraded)" = 0 ] || die "a refused fail has failed somebody: $(mdvol status mnt)"
refuses 1 "no member" "$MDVOL_BIN" fail mnt 4
mdvol fail mnt 9 3 || die "fail 9 3, one member by its name and by its slot"
[ "$(cat mnt/md/degraded)" = 1 ] || die "fail 9 3: $(mdvol status mnt)"
(cd number && mdvol fail ../mnt ./1) || die "fail ./1"
[ "$(cat mnt/md/dev-1/state)" = faulty ] || die "fail ./1: $(mdvol status mnt)"
stop_volume mnt

# The same in a configuration.
rm number/*
create_array 4M --chunk 64K
cat >array.toml <<'TOML'
[array]
members = ["number/1", "number/0", "number/2", "number/9"]
[[fault]]
member = 1
kind = "eio"
TOML
refuses 2 "array.toml:.*'1' means two members" "$MDVOL_BIN" mount --config array.toml mnt
say "names that are numbers"
