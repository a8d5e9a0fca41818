#!/bin/bash
# compare.sh [--quick] [--repeats N] [--seconds TIME] [--build-dir DIR] [--csv FILE]: fio's patterns (examples/fio) on a
# volume and, in the same run, on a null volume: the same FUSE session code, answered from memory. The ratio says what
# RAID6 costs above FUSE; it stays comparable from machine to machine, the absolute numbers do not.
#
# The array: 10 members in memory (/dev/shm), chunk 128 KiB, so that 1 MiB is one stripe; filled before the first
# measurement. Volume and null volume take turns within each pattern; the table has medians over N repeats.
#   --quick      0.5 s, one repeat: whether it works, not how fast
#   --build-dir  where mdvol was built (default ./build/release); Release, or the numbers mean nothing
. "$(dirname "$0")/common.sh"
repeats=5 seconds=5s csv=
quick() { repeats=1 seconds=500ms; }
parse_options "repeats seconds build_dir csv" "$@"
need_programs fio python3 fusermount3
mdvol=$(find_program mdvol)
null_volume=$(find_program mdvol_null_volume)
null_pid=
at_exit() { if [ -n "$null_pid" ]; then kill "$null_pid" 2>/dev/null; wait "$null_pid" 2>/dev/null; fi; }
enter_memory 2048 volume null
mkdir results

members=()
for i in {0..9}; do members+=("d$i.img"); done
"$mdvol" create --raid-devices 10 --chunk 128K --size 64M "${members[@]}" >create.out 2>&1 || fail "$(cat create.out)"
"$mdvol" mount "${members[@]}" volume
bytes=$(stat -c %s volume/volume)
"$null_volume" "$bytes" "$work/null" --foreground >null.out 2>&1 &
null_pid=$!
for ((i = 0; i < 200; i++)); do [ ! -e null/volume ] || break; sleep 0.05; done
[ -e null/volume ] || fail "the null volume does not come up: $(cat null.out)"

# Both hold data everywhere before anything is measured.
for kind in volume null; do
  dd if=/dev/urandom of="$kind/volume" bs=1M count=$((bytes / 1048576)) conv=notrunc status=none
done

# measure KIND PATTERN REPEAT
measure() {
  VOLUME=$work/$1/volume RUNTIME=$seconds fio --output-format=json --output="results/$1.$2.$3.json" \
    "$source_dir/examples/fio/$2.fio" >fio.out 2>&1 || fail "fio, $2 on the $1: $(cat fio.out)"
}
patterns=(single-read-4k random-read-4k sequential-read-1m single-write-4k random-write-4k sequential-write-1m mixed-16k)
for pattern in "${patterns[@]}"; do
  for ((repeat = 0; repeat < repeats; repeat++)); do
    measure volume "$pattern" "$repeat"
    measure null "$pattern" "$repeat"
  done
  echo "measured: $pattern" >&2
done

machine
echo "10 members in memory, chunk 128 KiB; $repeats x $seconds for each number; direct=1"
python3 - "$csv" "${patterns[@]}" <<'PYTHON'
"""Medians of fio's results as a table, and as CSV where a file is named."""
import glob, json, statistics, sys

csv_path, patterns = sys.argv[1], sys.argv[2:]

def rates(kind, pattern):
    iops, mib = [], []
    for path in glob.glob("results/%s.%s.*.json" % (kind, pattern)):
        with open(path) as file:
            text = file.read()
        jobs = json.loads(text[text.index("{"):])["jobs"]
        iops.append(sum(job[way]["iops"] for job in jobs for way in ("read", "write")))
        mib.append(sum(job[way]["bw_bytes"] for job in jobs for way in ("read", "write")) / 2**20)
    return statistics.median(iops), statistics.median(mib)

rows = [("pattern", "volume IOPS", "volume MiB/s", "null IOPS", "null MiB/s", "volume/null")]
for pattern in patterns:
    volume, null = rates("volume", pattern), rates("null", pattern)
    rows.append((pattern, "%.0f" % volume[0], "%.0f" % volume[1], "%.0f" % null[0], "%.0f" % null[1],
                 "%.2f" % (volume[0] / null[0])))
widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
for row in rows:
    print("  ".join(cell.ljust(width) if i == 0 else cell.rjust(width)
                    for i, (cell, width) in enumerate(zip(row, widths))))
if csv_path:
    with open(csv_path, "w") as file:
        file.writelines(",".join(row) + "\n" for row in rows)
PYTHON
