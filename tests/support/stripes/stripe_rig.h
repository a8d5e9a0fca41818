// StripeRig: a stripe engine over members in memory, its model, and the judge.
//
// A rig starts with random bytes and right parity. Members can be lost, recovering or have bad
// blocks; what cannot be read there is filled with noise, so that whoever reads it anyway is found
// out. Every member's data area starts elsewhere, with noise before and behind it that nobody may
// touch.
//
// MembersAgree() compares the members' bytes, read behind the engine's back, with what the oracle
// computes from the model: every chunk of data, P and Q on every member that is there. Then any
// further loss that is legal can be made up for, whatever the engine's own reads say.
//
// One thread but for the engine and the devices themselves.

#ifndef MDVOL_TESTS_SUPPORT_STRIPES_STRIPE_RIG_H_
#define MDVOL_TESTS_SUPPORT_STRIPES_STRIPE_RIG_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/device/counting_device.h"
#include "core/device/fault_device.h"
#include "core/geometry/geometry.h"
#include "core/metadata/bad_blocks.h"
#include "core/stripe/stripe_engine.h"
#include "gtest/gtest.h"
#include "tests/support/fake_clock.h"
#include "tests/support/oracle/array.h"
#include "tests/support/seed.h"
#include "tests/support/stripe_model.h"
#include "tests/support/stripes/hook_device.h"

namespace mdvol::testing {

struct RigOptions {
  Layout layout = Layout::kLeftSymmetric;
  uint32_t members = 6;
  uint64_t chunk_bytes = 4096;
  uint64_t stripes = 4;
  uint32_t alignment_bytes = 1;  // of the devices
  uint64_t seed = 1;
};

std::ostream& operator<<(std::ostream& out, const RigOptions& options);

// Asks nothing, knows nothing: parity is to be trusted everywhere.
inline bool NoDoubt(uint64_t /*stripe*/) { return false; }

class StripeRig {
 public:
  explicit StripeRig(const RigOptions& options,
                     std::function<bool(uint64_t stripe)> in_doubt = NoDoubt);

  const ArrayGeometry& geometry() const { return geometry_; }
  StripeEngine& engine() { return engine_; }
  MemberView& view() { return view_; }
  StripeModel& model() { return model_; }
  // The engine's; empty at first.
  PolicySet& policies() { return policies_; }
  FakeClock& clock() { return clock_; }
  HookDevice& hook(uint32_t slot) { return *members_[slot].hook; }
  CountingDevice& counter(uint32_t slot) { return *members_[slot].counter; }
  FaultDevice& fault(uint32_t slot) { return *members_[slot].fault; }
  // Behind all faults and counters.
  MemberDevice& memory(uint32_t slot) { return *members_[slot].memory; }
  // Where the slot's data area starts on the member.
  uint64_t DataOffset(uint32_t slot) const { return members_[slot].data_offset_bytes; }

  void Lose(uint32_t slot);
  // The member in the slot is good up to `valid_bytes` of its data area.
  void BeginRecovery(uint32_t slot, uint64_t valid_bytes);
  // A range of the slot's data area is known to be bad.
  void AddBadBlocks(uint32_t slot, uint64_t begin, uint64_t end);
  // Overwrites a range of the slot's data area behind the engine's back.
  void Scribble(uint32_t slot, uint64_t begin, uint64_t end);
  // Flips one bit of it.
  void FlipBit(uint32_t slot, uint64_t data_offset_bytes);

  // Engine calls that keep the model in step: a call that fails makes the model forget its range.
  EngineResult Write(uint64_t offset_bytes, uint64_t length_bytes);
  EngineResult Zero(uint64_t offset_bytes, uint64_t length_bytes);
  // Reads, and compares if there is no error.
  EngineResult Read(uint64_t offset_bytes, uint64_t length_bytes);
  // All of the volume, through another engine and with `lost` slots lost besides.
  ::testing::AssertionResult ReadsWithout(std::span<const uint32_t> lost);

  ::testing::AssertionResult MembersAgree();
  // All bytes of a slot's data area, of a member that was lost too.
  oracle::Bytes DataArea(uint32_t slot) {
    return ReadRaw(slot, members_[slot].data_offset_bytes, geometry_.component_bytes());
  }
  // The stripes whose P or Q, as all members hold them, is not that of their data.
  std::vector<uint64_t> InconsistentStripes();

  // Requests and bytes that reached all members since the last call.
  struct Traffic {
    uint64_t reads = 0, read_bytes = 0, writes = 0, written_bytes = 0;
  };
  Traffic TakeTraffic();
  // Reads and writes that reached one member since the last TakeTraffic.
  Traffic TrafficOf(uint32_t slot);

  Prng& prng() { return prng_; }
  // At an address that is odd three times in four.
  std::span<std::byte> RandomBytes(uint64_t length_bytes);

 private:
  struct Member {
    std::unique_ptr<HookDevice> hook;
    CountingDevice* counter;
    FaultDevice* fault;
    MemberDevice* memory;
    uint64_t data_offset_bytes;
    oracle::Bytes expected_outside;  // the whole member as it was filled at first
    BadBlockList bad_blocks;
    MemberIoCounts taken;
  };

  oracle::Shape Shape() const;
  void FillMembers();
  oracle::Bytes ReadRaw(uint32_t slot, uint64_t begin, uint64_t length_bytes);
  void WriteRaw(uint32_t slot, uint64_t begin, std::span<const std::byte> bytes);
  // Whether a byte of a slot's data area must be what the oracle says.
  bool IsJudged(uint32_t slot, uint64_t data_offset_bytes, const std::vector<bool>& known_columns);
  ::testing::AssertionResult MemberAgrees(uint32_t slot, const oracle::Bytes& expected,
                                          const std::vector<bool>& known_columns);

  const RigOptions options_;
  Prng prng_;
  const ArrayGeometry geometry_;
  FakeClock clock_;
  std::deque<Member> members_;
  MemberView view_;
  StripeModel model_;
  PolicySet policies_;
  StripeEngine engine_;
  std::vector<std::byte> buffer_;
};

}  // namespace mdvol::testing

#endif  // MDVOL_TESTS_SUPPORT_STRIPES_STRIPE_RIG_H_
