// StripeModel: what a volume must hold, as a plain array of bytes beside the engine under test. It
// knows nothing of stripes, members or parity. One thread at a time.

#ifndef MDVOL_TESTS_SUPPORT_STRIPE_MODEL_H_
#define MDVOL_TESTS_SUPPORT_STRIPE_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace mdvol::testing {

class StripeModel {
 public:
  explicit StripeModel(std::vector<std::byte> bytes);

  void Write(uint64_t offset_bytes, std::span<const std::byte> data);
  void Zero(uint64_t offset_bytes, uint64_t length_bytes);
  // A write of this range has failed: it may hold anything until it is written again.
  void Forget(uint64_t offset_bytes, uint64_t length_bytes);

  const std::vector<std::byte>& bytes() const { return bytes_; }
  bool IsKnown(uint64_t offset_bytes) const { return known_[offset_bytes]; }

  // The first offset at which `data`, read from `offset_bytes`, is not what it must be.
  std::optional<uint64_t> FirstDifference(uint64_t offset_bytes,
                                          std::span<const std::byte> data) const;

 private:
  void SetKnown(uint64_t offset_bytes, uint64_t length_bytes, bool known);

  std::vector<std::byte> bytes_;
  std::vector<bool> known_;
};

}  // namespace mdvol::testing

#endif  // MDVOL_TESTS_SUPPORT_STRIPE_MODEL_H_
