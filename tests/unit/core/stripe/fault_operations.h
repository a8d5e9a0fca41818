// The operations that the fault tests walk through: one of every kind of plan, on small rigs.

#ifndef MDVOL_TESTS_UNIT_CORE_STRIPE_FAULT_OPERATIONS_H_
#define MDVOL_TESTS_UNIT_CORE_STRIPE_FAULT_OPERATIONS_H_

#include <cstdint>
#include <vector>

#include "core/base/units.h"
#include "tests/support/stripes/stripe_rig.h"

namespace mdvol::testing {

enum class OperationKind : uint8_t { kRead, kWrite, kZero };

struct Operation {
  const char* name;
  OperationKind kind;
  uint64_t offset_bytes;
  uint64_t length_bytes;
};

inline constexpr uint64_t kFaultChunk = 16 * kKiB;
inline constexpr uint32_t kFaultMembers = 7;
inline constexpr uint64_t kFaultStripe = kFaultChunk * (kFaultMembers - 2);

inline constexpr Operation kOperations[] = {
    {"read of a chunk", OperationKind::kRead, kFaultStripe + kFaultChunk, kFaultChunk},
    {"read of bytes", OperationKind::kRead, kFaultStripe + 5000, 3000},
    {"read over two stripes", OperationKind::kRead, kFaultStripe / 2, kFaultStripe},
    {"read-modify-write", OperationKind::kWrite, kFaultStripe + kFaultChunk + 4096, 4096},
    {"write of bytes", OperationKind::kWrite, kFaultStripe + kFaultChunk + 5000, 6000},
    {"reconstruct-write", OperationKind::kWrite, kFaultStripe, 4 * kFaultChunk},
    {"full-stripe write", OperationKind::kWrite, kFaultStripe, kFaultStripe},
    {"write over three stripes", OperationKind::kWrite, kFaultStripe / 2 + 100, 2 * kFaultStripe},
    {"zeroes over chunks", OperationKind::kZero, kFaultStripe + 100, 2 * kFaultChunk},
    {"zeroes over stripes", OperationKind::kZero, kFaultStripe, kFaultStripe},
};

inline EngineResult RunOperation(StripeRig& rig, const Operation& operation) {
  switch (operation.kind) {
    case OperationKind::kRead:
      return rig.Read(operation.offset_bytes, operation.length_bytes);
    case OperationKind::kWrite:
      return rig.Write(operation.offset_bytes, operation.length_bytes);
    case OperationKind::kZero:
      break;
  }
  return rig.Zero(operation.offset_bytes, operation.length_bytes);
}

inline RigOptions FaultRigOptions(uint64_t seed) {
  return {.layout = Layout::kLeftSymmetric,
          .members = kFaultMembers,
          .chunk_bytes = kFaultChunk,
          .stripes = 3,
          .seed = seed};
}

// What is missing from the start. With slots 0 and 3 lost every operation meets losses.
inline const std::vector<std::vector<uint32_t>> kLossesBefore = {{}, {3}, {0, 3}};

}  // namespace mdvol::testing

#endif  // MDVOL_TESTS_UNIT_CORE_STRIPE_FAULT_OPERATIONS_H_
