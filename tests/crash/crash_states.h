// StateChoices: which of the changes that were pending at a crash are on the disks. Each may be
// there, be lost, or be torn: any subset of its atoms.
//
// Up to a bound every combination is enumerated. Beyond it come, in this order, every combination
// of writes that are wholly there or wholly lost, or when even those are too many all, none, all
// but one and only one; then seeded samples with torn writes. The same arguments give the same
// states. Pure.

#ifndef MDVOL_TESTS_CRASH_CRASH_STATES_H_
#define MDVOL_TESTS_CRASH_CRASH_STATES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mdvol::crash {

// [i][k]: whether atom k of pending write i is on its disk.
using KeptAtoms = std::vector<std::vector<bool>>;

class StateChoices {
 public:
  // atoms_of[i] > 0: of how many atoms pending write i consists. bound > 1.
  StateChoices(std::vector<size_t> atoms_of, size_t bound, uint64_t seed);

  size_t count() const { return count_; }
  bool is_exhaustive() const { return is_exhaustive_; }
  // index < count().
  KeptAtoms Get(size_t index) const;

 private:
  KeptAtoms None() const;
  KeptAtoms EveryAtom(size_t index) const;
  KeptAtoms WholeWrites(size_t index) const;
  KeptAtoms Sample(size_t index) const;

  std::vector<size_t> atoms_of_;
  uint64_t seed_;
  size_t whole_count_ = 0;  // those states in which no write is torn
  size_t count_ = 0;
  bool is_exhaustive_ = false;
};

}  // namespace mdvol::crash

#endif  // MDVOL_TESTS_CRASH_CRASH_STATES_H_
