#!/bin/bash
# Installs the Debian 12 packages that mdvol needs; does nothing, and needs no root, when all are there.
#
#   tests/install-packages.sh build   what builds everything and runs examples/quickstart.sh
#   tests/install-packages.sh test    that, what the tests use, and the ordinary user mdvol-test, as whom
#                                     the tests of mounts without root run when they are started by root
set -euo pipefail

build_packages=(g++ cmake ninja-build pkg-config libfuse3-dev fuse3 libisal-dev libtomlplusplus-dev
  libabsl-dev libcli11-dev nlohmann-json3-dev liburing-dev libgtest-dev libgmock-dev libbenchmark-dev
  mdadm)
test_packages=(ccache clang-14 clang-tidy-14 clang-format-14 libclang-rt-14-dev user-mode-linux fio
  xfsprogs btrfs-progs e2fsprogs qemu-utils jq python3 kmod parted util-linux attr)
test_user=mdvol-test

fail() {
  echo "install-packages.sh: $*" >&2
  exit 1
}

# as_root REASON COMMAND...: runs the command as root, by sudo if need be.
as_root() {
  local reason=$1
  shift
  if [[ $EUID -eq 0 ]]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    fail "$reason; run this as root or install sudo"
  fi
}

is_installed() {
  [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

install_missing() {
  local package missing=()
  for package in "$@"; do
    is_installed "$package" || missing+=("$package")
  done
  [[ ${#missing[@]} -gt 0 ]] || return 0
  command -v apt-get >/dev/null || fail "no apt-get here; install by hand: ${missing[*]}"
  echo "installing: ${missing[*]}"
  local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300
    -o Acquire::Retries=3)
  local reason="packages are missing: ${missing[*]}"
  as_root "$reason" "${apt[@]}" update
  as_root "$reason" "${apt[@]}" install --no-install-recommends "${missing[@]}"
}

make_test_user() {
  getent passwd "$test_user" >/dev/null && return 0
  as_root "the user $test_user is missing" \
    useradd --system --create-home --shell /bin/bash "$test_user"
}

case ${1-} in
  build)
    install_missing "${build_packages[@]}"
    ;;
  test)
    install_missing "${build_packages[@]}" "${test_packages[@]}"
    # Only root can become another user; without root the tests of mounts run as who started them.
    if [[ $EUID -eq 0 ]]; then make_test_user; fi
    ;;
  *)
    fail "write: install-packages.sh build|test"
    ;;
esac
