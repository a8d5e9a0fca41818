// See crash_states.h.

#include "tests/crash/crash_states.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/base/check.h"
#include "tests/support/seed.h"

namespace mdvol::crash {
namespace {

// 2^exponent when that is no more than the bound, else 0.
size_t PowerWithin(size_t exponent, size_t bound) {
  const bool fits = exponent < 48 && (size_t{1} << exponent) <= bound;
  return fits ? size_t{1} << exponent : 0;
}

}  // namespace

StateChoices::StateChoices(std::vector<size_t> atoms_of, size_t bound, uint64_t seed)
    : atoms_of_(std::move(atoms_of)), seed_(seed) {
  MDVOL_CHECK(bound > 1);
  const size_t writes = atoms_of_.size();
  const size_t atoms = std::accumulate(atoms_of_.begin(), atoms_of_.end(), size_t{0});
  count_ = PowerWithin(atoms, bound);
  is_exhaustive_ = count_ != 0;
  if (is_exhaustive_) {
    return;
  }
  count_ = bound;
  whole_count_ = PowerWithin(writes, bound / 2);
  if (whole_count_ == 0) {
    whole_count_ = std::min(bound / 2, 2 * writes + 2);
  }
}

KeptAtoms StateChoices::Get(size_t index) const {
  MDVOL_CHECK(index < count_);
  if (is_exhaustive_) {
    return EveryAtom(index);
  }
  return index < whole_count_ ? WholeWrites(index) : Sample(index);
}

KeptAtoms StateChoices::None() const {
  KeptAtoms kept;
  for (const size_t atoms : atoms_of_) {
    kept.emplace_back(atoms, false);
  }
  return kept;
}

KeptAtoms StateChoices::EveryAtom(size_t index) const {
  KeptAtoms kept = None();
  for (std::vector<bool>& write : kept) {
    for (size_t atom = 0; atom < write.size(); ++atom) {
      write[atom] = (index & 1) != 0;
      index >>= 1;
    }
  }
  return kept;
}

KeptAtoms StateChoices::WholeWrites(size_t index) const {
  KeptAtoms kept = None();
  const bool is_every_combination = PowerWithin(kept.size(), whole_count_) == whole_count_;
  for (size_t i = 0; i < kept.size(); ++i) {
    bool is_kept = false;
    if (is_every_combination) {
      is_kept = ((index >> i) & 1) != 0;
    } else {  // 0: none, 1: all, 2i + 2: only i, 2i + 3: all but i
      is_kept = (index % 2 != 0) != (index >= 2 && (index - 2) / 2 == i);
    }
    kept[i].assign(kept[i].size(), is_kept);
  }
  return kept;
}

KeptAtoms StateChoices::Sample(size_t index) const {
  testing::Prng prng(seed_ + index * 0x9e3779b97f4a7c15);
  KeptAtoms kept = None();
  // A state has a character: from everything there to everything torn.
  const uint64_t tears_of_eight = prng.Below(9);
  const uint64_t kept_of_eight = prng.Below(9);
  for (std::vector<bool>& write : kept) {
    if (prng.Below(8) >= tears_of_eight) {
      write.assign(write.size(), prng.Below(8) < kept_of_eight);
      continue;
    }
    const bool is_prefix = prng.OneIn(2);
    const size_t end = prng.Below(write.size() + 1);
    for (size_t atom = 0; atom < write.size(); ++atom) {
      write[atom] = is_prefix ? atom < end : prng.OneIn(2);
    }
  }
  return kept;
}

}  // namespace mdvol::crash
