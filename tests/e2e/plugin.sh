#!/bin/bash
# plugin.sh BUILD: the plugin of examples/plugin as its documentation has it: built against an installed mdvol, loaded
# by a configuration, chosen, switched, set, and in charge of a check; then every kind of plugin that must not be
# loaded: one line each, exit 2, nothing mounted, no member touched, no process left.
. "$(dirname "$0")/../support/case.sh"
. "$MDVOL_SOURCE/tests/support/volume.sh"
need_programs cmake c++ fusermount3 jq
build=$1

# ---- Built with the installed headers alone ---------------------------------------------------------
cmake --install "$build" --prefix "$CASE_DIR/prefix" >install.out 2>&1 || die "install: $(tail -n 5 install.out)"
cp -r "$MDVOL_SOURCE/examples/plugin" source
cmake -S source -B build-plugin -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$CASE_DIR/prefix" >build.out 2>&1 ||
  die "examples/plugin: $(cat build.out)"
cmake --build build-plugin >build.out 2>&1 || die "examples/plugin: $(cat build.out)"
[ -e build-plugin/turns.so ] || die "no turns.so"
# As people do without CMake; -Werror because the headers are seen with other people's switches.
compile() {
  c++ -std=c++20 -O0 -Wall -Wextra -Wshadow -Wconversion -Werror -fPIC -shared -I"$CASE_DIR/prefix/include/mdvol" "$@" \
    >compile.out 2>&1 || die "c++ $*: $(cat compile.out)"
}
mkdir config
compile -o config/broken.so "$MDVOL_SOURCE/tests/support/plugin/broken.cc"
cp build-plugin/turns.so config/
say "installed, and built"

# What is not noexcept is not compiled.
sed 's/ noexcept override/ override/' source/turns.cc >throwing.cc
! (compile -o throwing.so throwing.cc) 2>throwing.out || die "throwing.cc was compiled"
grep -q 'Decide() must be noexcept' throwing.out || die "throwing.cc: $(cat throwing.out)"

# ---- Loaded, chosen, switched, set --------------------------------------------------------------------
name_members 5
create_array 8M --chunk 64K
# configure FILE.so LINE...: config/array.toml, with more lines for [policy] and behind it.
configure() {
  local plugin=$1
  shift
  {
    echo '[array]'
    echo 'members = ["../d0.img", "../d1.img", "../d2.img", "../d3.img", "../d4.img"]'
    echo '[policy]'
    echo "plugins = [\"./$plugin\"]"
    printf '%s\n' "$@"
  } >config/array.toml
}
mount_configured() {
  mkdir -p mnt
  on_exit drop_mount "$CASE_DIR/mnt"
  mdvol mount --config config/array.toml "$@" mnt >mount.out 2>&1 </dev/null || die "mount: $(cat mount.out)"
}
# expect NAME VALUE
expect() {
  local value
  value=$(mdvol get mnt "$1") || die "get $1"
  [ "$value" = "$2" ] || die "$1 is '$value', expected '$2'"
}

configure turns.so 'resync_pacing = "turns"' '[policy.options.resync_pacing.turns]' 'rest_ms = 50'
mdvol policies --config config/array.toml | grep -qE '^ +turns +goes as fast' || die "policies: no turns"
mdvol policies --config config/array.toml --json |
  jq -e '.[] | select(.family == "resync_pacing").policies[-1] | .name == "turns" and .options[1].name == "rest_ms"' \
    >/dev/null || die "policies --json: no turns"
! mdvol policies | grep -q turns || die "policies lists a plugin that nobody named"

mount_configured
grep -q " plugin: $CASE_DIR/config/turns.so" mnt/events || die "$(cat mnt/events)"
[[ $(mdvol get mnt policy/resync_pacing) == *'[turns]'* ]] || die "$(mdvol get mnt policy/resync_pacing)"
[ "$(jq -r .policies.resync_pacing mnt/status.json)" = turns ] || die "status.json: $(jq .policies mnt/status.json)"
expect policy/resync_pacing.rest_ms 50
expect policy/resync_pacing.work_ms 250
mdvol set mnt policy/resync_pacing.work_ms=20 || die "set work_ms"
expect policy/resync_pacing.work_ms 20
refuses '[12]' 'rest_ms|argument' "$MDVOL_BIN" set mnt policy/resync_pacing.rest_ms=60001
rm config/turns.so # What is loaded stays.
head -c 8M /dev/urandom | dd of=mnt/volume bs=1M conv=notrunc,fsync status=none
sha1sum mnt/volume >volume.sha1
mdvol check mnt || die "check"
default=$(mdvol policies --json | jq -r '.[] | select(.family == "resync_pacing").default')
for name in "$default" turns "$default" turns; do
  mdvol set mnt "policy/resync_pacing=$name" || die "switch to $name"
  [[ $(mdvol get mnt policy/resync_pacing) == *"[$name]"* ]] || die "switched to $name"
done
expect policy/resync_pacing.work_ms 20
mdvol wait mnt || die "wait"
expect mismatch_cnt 0
expect last_sync_action check
sha1sum -c --status volume.sha1 || die "the volume differs"
stop_volume mnt

cp build-plugin/turns.so config/
configure turns.so
mount_configured --policy resync_pacing=turns
[[ $(mdvol get mnt policy/resync_pacing) == *'[turns]'* ]] || die "--policy turns"
stop_volume mnt
say "loaded, chosen, switched, set; a check under it"

# ---- Refused ------------------------------------------------------------------------------------------
configure turns.so '[policy.options.resync_pacing.turns]' 'rest_ms = 60001'
refuses 2 'array\.toml:[0-9]+:[0-9]+: policy resync_pacing turns: rest_ms' "$MDVOL_BIN" mount --config config/array.toml mnt
refuses 2 "resync_pacing: 'turns' is unknown" "$MDVOL_BIN" mount --policy resync_pacing=turns "${MEMBERS[@]}" mnt

fingerprint "${MEMBERS[@]}" >before
# refuses_plugin FILE.so REGEX: mount and policies, with the file's name, and what is the matter.
refuses_plugin() {
  configure "$1"
  MDVOL_ABOUT="$1 ${MDVOL_TEST_PLUGIN:-}: " refuses 2 "policy plugin $CASE_DIR/config/$1: .*$2" \
    "$MDVOL_BIN" mount --config config/array.toml mnt
  ! is_mounted mnt || die "$1 ${MDVOL_TEST_PLUGIN:-}: mounted"
  MDVOL_ABOUT="$1 ${MDVOL_TEST_PLUGIN:-}: " refuses 2 "policy plugin $CASE_DIR/config/$1: .*$2" \
    "$MDVOL_BIN" policies --config config/array.toml
}

compile -o config/empty.so "$MDVOL_SOURCE/tests/support/plugin/empty.cc"
printf 'void nowhere();\nvoid f();\nvoid f() { nowhere(); }\n' >config/undefined.cc
compile -o config/undefined.so config/undefined.cc
echo 'not an object' >config/text.so
head -c 5000 config/broken.so >config/short.so
cp config/broken.so config/foreign.so
printf '\x01' | dd of=config/foreign.so bs=1 seek=18 conv=notrunc status=none # e_machine
refuses_plugin absent.so 'no such file'
refuses_plugin text.so 'no shared object: build'
refuses_plugin short.so 'cut short: build'
refuses_plugin foreign.so 'another processor architecture: build'
refuses_plugin empty.so 'has no mdvol_policy_plugin'
refuses_plugin undefined.so 'undefined symbol.*nowhere'
while read -r pattern kind; do
  MDVOL_TEST_PLUGIN=$kind refuses_plugin broken.so "$pattern"
done <<'END'
version.0.of.*this.mdvol.has.version.1:.rebuild older abi
version.2.of.*this.mdvol.has.version.1:.rebuild newer abi
other.headers.*rebuild layout
no.table null table
malformed option bounds
unthrottled.*already taken name
null|no.name null name
crashes wild name
crashes.*signal.11 initialiser crashes
signal.6 initialiser aborts
signal.6 initialiser throws
exit.code.0 initialiser exits
crashes.*signal.11 maker crashes
signal.6 maker throws
exit.code.0 maker exits
makes.nothing maker of nothing
END
# The limit is ten seconds; it is not waited for twice.
configure broken.so
MDVOL_TEST_PLUGIN='maker hangs' refuses 2 'broken\.so: hangs' "$MDVOL_BIN" mount --config config/array.toml mnt
fingerprint "${MEMBERS[@]}" >after
cmp -s before after || die "a plugin that was refused has changed members"
say "refused"

# ---- A crash in the middle, and nothing left behind --------------------------------------------------
MDVOL_TEST_PLUGIN='decision crashes' mount_configured --policy resync_pacing=sound
pid=$(daemon_of mnt) || die "no daemon"
mdvol check mnt 2>/dev/null || true
wait_for 20 is_gone "$pid" || die "the daemon has survived its policy"
fusermount3 -u -z -q mnt || true
mdvol mount "${MEMBERS[@]}" mnt || die "after the crash"
sha1sum -c --status volume.sha1 || die "the volume differs after the crash"
stop_volume mnt
say "a policy that crashes costs its daemon, and no byte"
[ -z "$(find . -name 'core*' -type f)" ] || die "core files"
for process in /proc/[0-9]*; do
  [ "$(readlink "$process/exe" 2>/dev/null)" != "$MDVOL_BIN" ] ||
    [ "$(readlink "$process/cwd" 2>/dev/null)" != "$CASE_DIR" ] || die "left: ${process#/proc/}"
done
