#!/bin/bash
# as_user.sh COMMAND ARGUMENT...: runs a test script as the ordinary user mdvol-test when root starts it, else as who
# started it. Sources and executables are copied to where that user can read them: they may lie below /root.
set -euo pipefail
user=${MDVOL_TEST_USER:-mdvol-test}
if [ "$(id -u)" != 0 ]; then
  exec "$@"
fi
if ! getent passwd "$user" >/dev/null; then
  echo "as_user.sh: there is no user $user; tests/install-packages.sh test makes it" >&2
  exit 1
fi
copy=$(mktemp -d /tmp/mdvol-as-user.XXXXXX)
trap 'rm -rf "$copy"' EXIT
chmod 755 "$copy"
mkdir "$copy/source" "$copy/tools"
cp "$MDVOL_BIN" "$copy/mdvol"
cp "$MDVOL_TOOLS"/* "$copy/tools/"
tar -C "$MDVOL_SOURCE" --exclude=./build --exclude=./.git -c . | tar -C "$copy/source" -x
chmod -R a+rX "$copy"
arguments=()
for argument in "$@"; do arguments+=("${argument//"$MDVOL_SOURCE"/"$copy/source"}"); done
export MDVOL_BIN=$copy/mdvol MDVOL_TOOLS=$copy/tools MDVOL_SOURCE=$copy/source HOME=/tmp
cd /
# Not exec: the copy must be removed afterwards. setpriv, as the signals of a time limit pass through it.
setpriv --reuid "$user" --regid "$(id -g "$user")" --init-groups "${arguments[@]}"
