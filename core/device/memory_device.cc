// See memory_device.h.
//
// Blocks of 64 KiB, made when first written, in ordered maps; a block that is not there is a hole.
// The maps are spread over shards, block b in shard b mod kShards, each with a lock, so that
// threads which work in different places rarely meet. A lock is held while bytes of its block are
// copied: blocks may be given back by kZero at any time.

#include "core/device/memory_device.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/btree_map.h"
#include "absl/synchronization/mutex.h"
#include "core/base/aligned_buffer.h"
#include "core/base/units.h"
#include "core/device/request_check.h"

namespace mdvol {
namespace {

constexpr uint64_t kBlockBytes = 64 * kKiB;
constexpr uint64_t kShards = 64;

// The part of a range that lies in one block.
struct BlockPart {
  uint64_t block;
  size_t begin_bytes;  // within the block
  size_t length_bytes;

  bool IsWholeBlock() const { return length_bytes == kBlockBytes; }
};

BlockPart FirstPart(uint64_t offset_bytes, uint64_t length_bytes) {
  const uint64_t begin_bytes = offset_bytes % kBlockBytes;
  return {offset_bytes / kBlockBytes, begin_bytes,
          std::min(length_bytes, kBlockBytes - begin_bytes)};
}

template <typename Function>
void ForEachPart(uint64_t offset_bytes, uint64_t length_bytes, Function function) {
  while (length_bytes > 0) {
    const BlockPart part = FirstPart(offset_bytes, length_bytes);
    function(part);
    offset_bytes += part.length_bytes;
    length_bytes -= part.length_bytes;
  }
}

class MemoryDevice final : public MemberDevice {
 public:
  MemoryDevice(std::string name, uint64_t size_bytes, const MemoryDeviceOptions& options)
      : name_(std::move(name)), limits_{size_bytes, options.alignment_bytes, options.read_only} {}

  const std::string& path() const override { return name_; }
  uint64_t size_bytes() const override { return limits_.size_bytes; }
  uint32_t alignment_bytes() const override { return limits_.alignment_bytes; }
  bool read_only() const override { return limits_.read_only; }

  void Submit(IoRequest& request) override {
    request.error = CheckRequest(request, limits_);
    if (request.error != 0 || request.kind == IoKind::kFlush) {
      return;
    }
    if (request.kind == IoKind::kZero) {
      Zero(request.offset_bytes, request.length_bytes);
      return;
    }
    uint64_t offset_bytes = request.offset_bytes;
    for (const iovec& buffer : request.buffers) {
      auto* data = static_cast<std::byte*>(buffer.iov_base);
      if (request.kind == IoKind::kRead) {
        Read(offset_bytes, data, buffer.iov_len);
      } else {
        Write(offset_bytes, data, buffer.iov_len);
      }
      offset_bytes += buffer.iov_len;
    }
  }

  void Wait(IoRequest& /*request*/) override {}

  absl::StatusOr<uint64_t> NextData(uint64_t offset_bytes) override {
    uint64_t first_block = std::numeric_limits<uint64_t>::max();
    for (Shard& shard : shards_) {
      absl::ReaderMutexLock lock(&shard.mutex);
      const auto found = shard.blocks.lower_bound(offset_bytes / kBlockBytes);
      if (found != shard.blocks.end()) {
        first_block = std::min(first_block, found->first);
      }
    }
    if (offset_bytes >= limits_.size_bytes || first_block == std::numeric_limits<uint64_t>::max()) {
      return limits_.size_bytes;
    }
    return std::max(offset_bytes, first_block * kBlockBytes);
  }

  absl::StatusOr<uint64_t> NextHole(uint64_t offset_bytes) override {
    while (offset_bytes < limits_.size_bytes && HasBlock(offset_bytes / kBlockBytes)) {
      offset_bytes = RoundDown(offset_bytes, kBlockBytes) + kBlockBytes;
    }
    return std::min(offset_bytes, limits_.size_bytes);
  }

 private:
  struct alignas(64) Shard {
    absl::Mutex mutex;
    absl::btree_map<uint64_t, AlignedBuffer> blocks ABSL_GUARDED_BY(mutex);
  };

  Shard& ShardOf(uint64_t block) { return shards_[block % kShards]; }

  bool HasBlock(uint64_t block) {
    Shard& shard = ShardOf(block);
    absl::ReaderMutexLock lock(&shard.mutex);
    return shard.blocks.contains(block);
  }

  void Read(uint64_t offset_bytes, std::byte* data, uint64_t length_bytes) {
    ForEachPart(offset_bytes, length_bytes, [&](const BlockPart& part) {
      Shard& shard = ShardOf(part.block);
      absl::ReaderMutexLock lock(&shard.mutex);
      const auto found = shard.blocks.find(part.block);
      if (found == shard.blocks.end()) {
        std::memset(data, 0, part.length_bytes);
      } else {
        std::memcpy(data, found->second.data() + part.begin_bytes, part.length_bytes);
      }
      data += part.length_bytes;
    });
  }

  void Write(uint64_t offset_bytes, const std::byte* data, uint64_t length_bytes) {
    ForEachPart(offset_bytes, length_bytes, [&](const BlockPart& part) {
      Shard& shard = ShardOf(part.block);
      absl::MutexLock lock(&shard.mutex);
      AlignedBuffer& bytes = shard.blocks[part.block];
      if (bytes.size() == 0) {
        bytes = AlignedBuffer(kBlockBytes);
        if (!part.IsWholeBlock()) {
          std::memset(bytes.data(), 0, kBlockBytes);
        }
      }
      std::memcpy(bytes.data() + part.begin_bytes, data, part.length_bytes);
      data += part.length_bytes;
    });
  }

  // Whole blocks are looked for where there are any: a range of many TiB costs no more than what it
  // holds.
  void Zero(uint64_t offset_bytes, uint64_t length_bytes) {
    const uint64_t end_bytes = offset_bytes + length_bytes;
    const uint64_t first_whole_block = CeilDiv(offset_bytes, kBlockBytes);
    const uint64_t end_whole_block = end_bytes / kBlockBytes;
    if (first_whole_block >= end_whole_block) {
      ForEachPart(offset_bytes, length_bytes, [this](const BlockPart& part) { ZeroPart(part); });
      return;
    }
    if (offset_bytes % kBlockBytes != 0) {
      ZeroPart(FirstPart(offset_bytes, length_bytes));
    }
    for (Shard& shard : shards_) {
      absl::MutexLock lock(&shard.mutex);
      shard.blocks.erase(shard.blocks.lower_bound(first_whole_block),
                         shard.blocks.lower_bound(end_whole_block));
    }
    if (end_bytes % kBlockBytes != 0) {
      ZeroPart(FirstPart(end_whole_block * kBlockBytes, end_bytes % kBlockBytes));
    }
  }

  void ZeroPart(const BlockPart& part) {
    Shard& shard = ShardOf(part.block);
    absl::MutexLock lock(&shard.mutex);
    const auto found = shard.blocks.find(part.block);
    if (found != shard.blocks.end()) {
      std::memset(found->second.data() + part.begin_bytes, 0, part.length_bytes);
    }
  }

  const std::string name_;
  const DeviceLimits limits_;
  std::array<Shard, kShards> shards_;
};

}  // namespace

std::unique_ptr<MemberDevice> NewMemoryDevice(std::string name, uint64_t size_bytes,
                                              const MemoryDeviceOptions& options) {
  return std::make_unique<MemoryDevice>(std::move(name), size_bytes, options);
}

}  // namespace mdvol
