// IoBatch: all member I/O of one step of the engine, submitted together and waited for together.
//
// Extents of one member that touch end to end, of the same kind, become one vectored request (a
// merge), whatever the order they were added in. The result of an extent is the result of the
// request that carried it; when a merged request fails, its extents are tried one by one, so that
// an error is pinned to the extent that caused it.
//
// A batch belongs to one thread and is reusable after Clear. Device pointers and buffers must
// outlive Run. Extents that overlap in one batch are a bug (checked).

#ifndef MDVOL_CORE_DEVICE_IO_BATCH_H_
#define MDVOL_CORE_DEVICE_IO_BATCH_H_

#include <cstddef>
#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "core/device/member_device.h"

namespace mdvol {

class IoBatch {
 public:
  IoBatch() = default;
  IoBatch(const IoBatch&) = delete;
  IoBatch& operator=(const IoBatch&) = delete;

  // Each returns the index by which error() knows the extent. `offset_bytes` is absolute on the
  // member.
  size_t AddRead(MemberDevice* device, uint64_t offset_bytes, std::byte* data, size_t length_bytes);
  size_t AddWrite(MemberDevice* device, uint64_t offset_bytes, const std::byte* data,
                  size_t length_bytes);
  size_t AddZero(MemberDevice* device, uint64_t offset_bytes, uint64_t length_bytes);
  size_t AddFlush(MemberDevice* device);

  bool empty() const { return extents_.empty(); }
  size_t size() const { return extents_.size(); }

  // Submits everything, waits for everything. True when no extent failed.
  bool Run();

  // After Run: 0 or the errno of extent `index`.
  int error(size_t index) const { return extents_[index].error; }

  void Clear();

 private:
  struct Extent {
    MemberDevice* device;
    IoKind kind;
    uint64_t offset_bytes;
    uint64_t length_bytes;
    std::byte* data;
    int error;
  };

  size_t Add(const Extent& extent);
  void Plan();
  void RetryOneByOne(size_t request_index);

  absl::InlinedVector<Extent, 16> extents_;
  // The rest is filled by Plan: extents sorted by device, kind and offset; requests_[r] carries
  // order_[first_[r]] .. order_[first_[r + 1] - 1].
  absl::InlinedVector<uint32_t, 16> order_;
  absl::InlinedVector<IoRequest, 8> requests_;
  absl::InlinedVector<uint32_t, 9> first_;
};

}  // namespace mdvol

#endif  // MDVOL_CORE_DEVICE_IO_BATCH_H_
