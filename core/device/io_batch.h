// IoBatch: all member I/O of one step of the engine, submitted together and waited for together.
//
// Extents of one member that touch end to end, of the same kind, become one vectored request (a
// merge), whatever the order they were added in; flushes of one member become one. The result of an
// extent is the result of the request that carried it; when a merged request fails, its extents are
// tried one by one, so that an error is pinned to the extent that caused it. An extent that is
// added as kApart begins a request of its own. A flush is never tried again: after a failed one a
// later success proves nothing.
//
// Requests are submitted member by member in the order in which the members were first added, by
// ascending offset, flushes last: the same batch always does the same I/O in the same order.
//
// A batch belongs to one thread and is reusable after Clear, without allocating again what it has
// grown to. Device pointers and buffers must outlive Run. Extents that overlap in one batch are a
// bug (checked). An extent of length 0 does nothing and succeeds. A batch of one extent, the random
// read, allocates nothing and sorts nothing.

#ifndef MDVOL_CORE_DEVICE_IO_BATCH_H_
#define MDVOL_CORE_DEVICE_IO_BATCH_H_

#include <cstddef>
#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "core/device/member_device.h"

namespace mdvol {

class IoBatch {
 public:
  // Whom its reads are for: see IoRequest::serves_reader.
  enum class Reads : uint8_t { kForReaders, kForOthers };
  explicit IoBatch(Reads reads = Reads::kForReaders)
      : serves_readers_(reads == Reads::kForReaders) {}
  IoBatch(const IoBatch&) = delete;
  IoBatch& operator=(const IoBatch&) = delete;

  // Each returns the index by which error() knows the extent. `offset_bytes` is absolute on the
  // member.
  enum class Joining : uint8_t { kJoins, kApart };
  size_t AddRead(MemberDevice* device, uint64_t offset_bytes, std::byte* data, size_t length_bytes,
                 Joining joining = Joining::kJoins);
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
    uint64_t offset_bytes;
    uint64_t length_bytes;
    std::byte* data;
    IoKind kind;
    Joining joining = Joining::kJoins;
    int error = 0;
    uint32_t rank = 0;  // which member, in the order of their first use; flushes behind all others
  };

  static bool DoesNothing(const Extent& extent);
  void RunAlone(Extent& extent) const;
  static void AddBuffer(IoRequest& request, const Extent& extent);

  size_t Add(const Extent& extent);
  void RankDevices();
  void SortExtents();
  void PlaceExtentsByRank();
  void PlanRequests();
  void BeginRequest(const Extent& extent);
  bool CollectErrors();
  Extent& OrderedExtent(size_t position) { return extents_[order_[position]]; }

  absl::InlinedVector<Extent, 16> extents_;
  // The rest is filled by Run: extents sorted by rank and offset; requests_[r], for r below
  // request_count_, carries order_[first_[r]] .. order_[first_[r + 1] - 1]. Requests beyond
  // request_count_ are kept for the capacity of their buffers.
  absl::InlinedVector<uint32_t, 16> order_;
  absl::InlinedVector<MemberDevice*, 16> devices_;
  absl::InlinedVector<uint32_t, 33> rank_ends_;  // where in order_ the extents of each rank end
  absl::InlinedVector<IoRequest, 8> requests_;
  absl::InlinedVector<uint32_t, 9> first_;
  size_t request_count_ = 0;
  const bool serves_readers_;
};

}  // namespace mdvol

#endif  // MDVOL_CORE_DEVICE_IO_BATCH_H_
