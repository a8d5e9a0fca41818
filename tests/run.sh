#!/bin/bash
# Installs what the tests need, builds, and runs them all. The last line is "N passed, N failed".
#
#   tests/run.sh [--quick | --full] [--only NAME]... [--filter REGEX] [--build-dir DIR] [--allow-no-sanitizers]
#
# Configurations, in this order:
#   format   the format of all sources
#   release  everything, gcc, Release
#   asan     clang 14, -Wthread-safety as an error, AddressSanitizer and UBSan; all tests but those labelled
#            release-only
#   tsan     gcc, ThreadSanitizer; the tests labelled stress
#   clang    clang 14, Release: compiles everything; only with --full or --only clang
#   tidy     clang-tidy and every header compiled by itself; only with --full or --only tidy
# Without an option: the first four.
#
#   --quick        format and release only
#   --full         all six, and the long form of every test (MDVOL_TEST_FULL=1)
#   --only NAME    this configuration (may be given again)
#   --filter REGEX tests whose name matches
#   --build-dir D  build folders go below D; default ./build
#   --allow-no-sanitizers  asan and tsan are left out, and it is said, where their programs cannot start at all
#
# A test that is skipped counts as failed, as does a build that breaks, and a sanitizer whose programs cannot start
# here unless --allow-no-sanitizers is given. Only what the summary calls left out does not count: tests labelled root
# when this runs as someone else, and tests that are for another configuration. Exit 1 if anything failed.
set -euo pipefail
start_folder=$PWD
cd "$(dirname "${BASH_SOURCE[0]}")/.."

configurations=(format release asan tsan)
only=()
filter=
build_dir=$PWD/build
allow_no_sanitizers=0
timeout_scale=1
jobs=$(nproc)

usage() {
  sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' tests/run.sh
}

while [[ $# -gt 0 ]]; do
  case $1 in
    --quick) configurations=(format release) ;;
    --full)
      configurations=(format release asan tsan clang tidy)
      export MDVOL_TEST_FULL=1
      timeout_scale=20
      ;;
    --only | --filter | --build-dir)
      [[ $# -ge 2 ]] || { echo "run.sh: $1 wants a value" >&2; exit 2; }
      case $1 in
        --only) only+=("$2") ;;
        --filter) filter=$2 ;;
        --build-dir) build_dir=$(cd "$start_folder" && realpath -m "$2") ;;
      esac
      shift
      ;;
    --allow-no-sanitizers) allow_no_sanitizers=1 ;;
    --help) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
  shift
done
for name in "${only[@]}"; do
  case $name in
    format | release | asan | tsan | clang | tidy) ;;
    *) echo "run.sh: --only $name: write format, release, asan, tsan, clang or tidy" >&2; exit 2 ;;
  esac
done
[[ ${#only[@]} -eq 0 ]] || configurations=("${only[@]}")

passed=0
failed=0
summary=()

# ---- Pieces ----------------------------------------------------------------------------------------

say() { printf '\n==== %s\n' "$*"; }

# note CONFIGURATION TEXT SECONDS: a line of the summary.
note() { summary+=("$(printf '%-8s %s (%d s)' "$1" "$2" "$3")"); }

# break_off CONFIGURATION WHAT SECONDS: a step that is no test counts as one failure.
break_off() {
  failed=$((failed + 1))
  note "$1" "$2 FAILED" "$3"
}

# build CONFIGURATION TARGET OPTION...: configures and builds.
build() {
  local folder=$build_dir/$1 target=$2
  shift 2
  cmake -S . -B "$folder" -G Ninja -DMDVOL_TEST_TIMEOUT_SCALE=$timeout_scale "$@" &&
    cmake --build "$folder" -j "$jobs" --target "$target"
}

# Sanitizers need an address space that is less random than newer kernels make it.
if setarch "$(uname -m)" -R true 2>/dev/null; then
  steady=(setarch "$(uname -m)" -R)
else
  steady=()
fi

# count_tests CONFIGURATION CTEST_OPTION...: how many tests match.
count_tests() {
  local folder=$build_dir/$1
  shift
  "${steady[@]}" ctest --test-dir "$folder" -N "$@" 2>/dev/null | sed -n 's/^Total Tests: //p'
}

# attribute NAME FILE: an attribute of the first <testsuite> of a JUnit file.
attribute() { sed -n "s/.*[[:space:]]$1=\"\([0-9]*\)\".*/\1/p" "$2" | head -n 1; }

# run_tests CONFIGURATION CTEST_OPTION...: runs, and adds to the totals.
run_tests() {
  local name=$1 folder=$build_dir/$1 start=$SECONDS code=0
  local report=$folder/report.xml
  shift
  rm -f "$report"
  [[ -z $filter ]] || set -- "$@" -R "$filter"
  "${steady[@]}" ctest --test-dir "$folder" -j "$jobs" --output-on-failure --no-tests=ignore \
    --output-junit "$report" "$@" || code=$?
  local tests=0 bad=0 skipped=0
  if [[ -s $report ]]; then
    tests=$(attribute tests "$report")
    skipped=$(($(attribute skipped "$report") + $(attribute disabled "$report")))
    bad=$(($(attribute failures "$report") + skipped))
  fi
  # ctest failed, yet no test did: it did not get as far as running them.
  if [[ $code -ne 0 && $bad -eq 0 ]]; then bad=1 tests=$((tests + 1)); fi
  passed=$((passed + tests - bad))
  failed=$((failed + bad))
  local text="$((tests - bad)) passed, $bad failed"
  [[ $skipped -eq 0 ]] || text+=", $skipped of these skipped"
  note "$name" "$text" $((SECONDS - start))
}

# left_out CONFIGURATION TEXT CTEST_OPTION...: says what a configuration does not run.
left_out() {
  local name=$1 text=$2 count
  shift 2
  count=$(count_tests "$name" "$@")
  [[ ${count:-0} -eq 0 ]] || summary+=("$(printf '%-8s left out: %s %s' "$name" "$count" "$text")")
}

# build_and_test CONFIGURATION TARGET "LABEL..." CMAKE_OPTION...: the labels are those left out.
build_and_test() {
  local name=$1 target=$2 labels=$3 start=$SECONDS
  shift 3
  if ! build "$name" "$target" "$@"; then
    break_off "$name" "build" $((SECONDS - start))
    return
  fi
  note "$name" "built" $((SECONDS - start))
  say "$name: tests"
  local select=()
  if [[ $name == tsan ]]; then
    select=(-L '^stress$')
    left_out "$name" "tests not labelled stress (of those not built, one per executable)" -LE '^stress$'
  fi
  if [[ $EUID -ne 0 ]]; then
    labels+=" root"
    left_out "$name" "tests labelled root: run this as root for them" "${select[@]}" -L '^root$'
  fi
  if [[ " $labels " == *" release-only "* ]]; then
    left_out "$name" "tests labelled release-only: release runs them" -L '^release-only$'
  fi
  labels=$(xargs <<<"$labels")
  [[ -z $labels ]] || select+=(-LE "^(${labels// /|})\$")
  run_tests "$name" "${select[@]}"
}

# sanitizer_works CONFIGURATION COMPILER FLAGS: whether a program built with it can start here at all. Where the
# kernel randomises more address bits than the sanitizer expects, and a sandbox forbids setarch, it dies now
# and then before main(). That is the machine's doing; yet what was not run has not passed.
sanitizer_works() {
  local folder=$build_dir/$1-probe i
  mkdir -p "$folder"
  echo 'int main() { return 0; }' >"$folder/probe.cc"
  "$2" "-fsanitize=$3" -o "$folder/probe" "$folder/probe.cc" || return 1
  for i in {1..30}; do
    "${steady[@]}" "$folder/probe" || return 1
  done
}

sanitized() {
  local name=$1 compiler=$2 target=$3 labels=$4 sanitizers=$5 start=$SECONDS
  if ! sanitizer_works "$name" "$compiler" "${sanitizers//;/,}"; then
    local why="its programs cannot start here ('sysctl vm.mmap_rnd_bits=28' helps)"
    if [[ $allow_no_sanitizers -eq 1 ]]; then
      summary+=("$(printf '%-8s LEFT OUT: %s' "$name" "$why")")
    else
      break_off "$name" "$why, and --allow-no-sanitizers was not given:" $((SECONDS - start))
    fi
    return
  fi
  build_and_test "$name" "$target" "$labels" -DCMAKE_BUILD_TYPE=RelWithDebInfo \
    -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O1 -g1" \
    "-DMDVOL_SANITIZE=$sanitizers"
}

# step CONFIGURATION WHAT COMMAND...: something that is no test but must succeed.
step() {
  local name=$1 what=$2 start=$SECONDS
  shift 2
  if "$@"; then
    note "$name" "$what" $((SECONDS - start))
  else
    break_off "$name" "$what" $((SECONDS - start))
    return 1
  fi
}

sources() { find . -path './build*' -prune -o \( -name '*.cc' -o -name '*.h' \) -print; }

check_format() { sources | xargs clang-format-14 --dry-run -Werror; }

build_with_clang() {
  build clang "$1" -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER=clang++-14 \
    -DCMAKE_VERIFY_INTERFACE_HEADER_SETS=ON
}

run_clang_tidy() {
  run-clang-tidy-14 -quiet -p "$build_dir/clang" -j "$jobs" "^$PWD/(core|policies|fuse|tests)/"
}

# ---- The configurations ----------------------------------------------------------------------------

run_release() { build_and_test release all "" -DCMAKE_BUILD_TYPE=Release; }
run_format() { step format "checked" check_format || true; }
# clang: it instruments in half the time that gcc takes, and its thread-safety analysis comes along.
run_asan() { sanitized asan clang++-14 all "release-only" "address;undefined"; }
run_tsan() { sanitized tsan g++ tests-stress "" "thread"; }

run_clang() { step clang "built" build_with_clang all || true; }

run_tidy() {
  step tidy "headers compiled by themselves" build_with_clang all_verify_interface_header_sets || true
  step tidy "clang-tidy" run_clang_tidy || true
}

tests/install-packages.sh test
# What one clone compiled serves the next, wherever it lies.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
export ASAN_OPTIONS=${ASAN_OPTIONS-detect_stack_use_after_return=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS-print_stacktrace=1}
export TSAN_OPTIONS=${TSAN_OPTIONS-second_deadlock_stack=1}

for name in "${configurations[@]}"; do
  say "$name"
  "run_$name"
done

say "summary ($SECONDS s)"
printf '%s\n' "${summary[@]}"
if [[ $((passed + failed)) -eq 0 && " ${configurations[*]} " =~ \ (release|asan|tsan)\  ]]; then
  echo "no test has run"
  failed=1
fi
echo "$passed passed, $failed failed"
[[ $failed -eq 0 ]]
