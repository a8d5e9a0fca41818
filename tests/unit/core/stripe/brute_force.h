// The planners' judge: what can be computed from which blocks, by linear algebra over GF(2^8) on
// the definition of the code, and the smallest set of blocks that suffices, by trying all sets.
// Shares no formula with the planners: "read-modify-write" and the like do not occur here.
//
// A byte position of a stripe holds the unknowns D_0 … D_(d-1). A block is a known linear form in
// them: D_k itself, P (all coefficients 1), or Q (coefficients g^e). What has to be known is a list
// of such forms.

#ifndef MDVOL_TESTS_UNIT_CORE_STRIPE_BRUTE_FORCE_H_
#define MDVOL_TESTS_UNIT_CORE_STRIPE_BRUTE_FORCE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/stripe/stripe_facts.h"
#include "core/stripe/write_plan.h"

namespace mdvol::testing {

using LinearForm = std::vector<uint8_t>;  // the coefficient of each D_k

class BruteForce {
 public:
  explicit BruteForce(const StripeFacts& facts);

  // The form that the block in a slot is.
  const LinearForm& FormOf(uint32_t slot) const { return forms_[slot]; }
  LinearForm DataForm(uint32_t data_index) const;

  // What has to be known in order to write `extents` in these columns, whatever the method.
  std::vector<LinearForm> NeededToWrite(const StripeFacts& facts,
                                        std::span<const NewExtent> extents,
                                        ColumnRange columns) const;

  // Whether all of `needed` follow from the blocks in `slots`.
  bool Suffices(std::span<const uint32_t> slots, const std::vector<LinearForm>& needed) const;

  // The size of the smallest set of `usable` slots that suffices; nothing when none does.
  std::optional<size_t> SmallestSet(std::span<const uint32_t> usable,
                                    const std::vector<LinearForm>& needed) const;

 private:
  uint32_t data_disks_;
  std::vector<LinearForm> forms_;
};

}  // namespace mdvol::testing

#endif  // MDVOL_TESTS_UNIT_CORE_STRIPE_BRUTE_FORCE_H_
