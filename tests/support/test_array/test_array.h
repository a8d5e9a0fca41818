// TestArray: an array on members in memory that outlive it.
//
// It is made as `create` makes one (PlanCreate, WriteCreatePlan) and opened as `mount` opens one
// (LoadMember, StartArray), with all members or some. Crash() destroys it without Stop; Open()
// finds then what was left. Each member is counted, can be told to misbehave, and is recorded; a
// fault is met before the record is made, so the record holds what really happened to the disk.
//
// The content of the volume is kept beside the array (model()). What lies on the disks is judged
// apart from the array: superblocks by CheckSuperblock, data and parity by the oracle.
//
// One thread at a time but for the array itself. Functions named Check… return "" or what is wrong.

#ifndef MDVOL_TESTS_SUPPORT_TEST_ARRAY_TEST_ARRAY_H_
#define MDVOL_TESTS_SUPPORT_TEST_ARRAY_TEST_ARRAY_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/array/array.h"
#include "core/base/status.h"
#include "core/device/fault_device.h"
#include "core/metadata/create_plan.h"
#include "gtest/gtest.h"
#include "tests/support/fake_clock.h"
#include "tests/support/oracle/array.h"
#include "tests/support/seed.h"
#include "tests/support/stripe_model.h"
#include "tests/support/test_array/disks.h"
#include "tests/support/test_array/recording_device.h"

// On a Status: OK, or the message in the failure.
#define MDVOL_EXPECT_OK(expression) EXPECT_EQ(::mdvol::MessageOf(expression), "")
#define MDVOL_ASSERT_OK(expression) ASSERT_EQ(::mdvol::MessageOf(expression), "")
// On a Status: the errno it carries.
#define MDVOL_EXPECT_ERRNO(expression, error_number) \
  EXPECT_EQ(::mdvol::ErrnoOf(expression), error_number)

namespace mdvol::testing {

struct ArraySpec {
  Layout layout = Layout::kLeftSymmetric;
  uint32_t raid_disks = 6;
  uint32_t spares = 0;
  uint64_t chunk_bytes = 4096;
  uint64_t stripes = 32;
  bool bitmap = true;
  uint64_t bitmap_chunk_bytes = 4 * 4096;  // four stripes to a bit
  int minor = 2;
  uint32_t alignment_bytes = 1;  // of the members, as O_DIRECT has it
};

std::ostream& operator<<(std::ostream& out, const ArraySpec& spec);

CreateRequest RequestOf(const ArraySpec& spec);

// Whom to open, and how.
struct Opening {
  std::vector<size_t> members;  // indices of disks; empty: all
  ArrayOptions options;
  bool resync = true;  // StartArray; otherwise Array::Start alone
};

inline Opening ReadOnly() {
  Opening opening;
  opening.options.assembly.read_only = true;
  return opening;
}

class TestArray {
 public:
  explicit TestArray(const ArraySpec& spec = {});
  // The same array on other disks, to see what becomes of them; the model is not known.
  TestArray(const TestArray& other, Disks disks);
  ~TestArray();
  TestArray(const TestArray&) = delete;
  TestArray& operator=(const TestArray&) = delete;

  absl::Status Open(const Opening& opening = {});
  absl::Status Open(std::vector<size_t> members, const AssemblyOptions& assembly = {});
  bool is_open() const { return array_ != nullptr; }
  Array& operator*() { return *array_; }
  Array* operator->() { return array_.get(); }
  void Crash() { Close(); }
  absl::Status Stop();

  // A further disk, full of noise; its index.
  size_t AddDisk();
  // Adds the disk to the running array; a failed device of it is let go.
  absl::StatusOr<size_t> AddMember(size_t disk, AddMode mode = AddMode::kAdd);
  // The index by which the array knows the disk, if it is a member.
  std::optional<size_t> MemberOf(size_t disk) const;
  // Rebuilds until nothing is pending, `stripes` at a time, as a sync engine does; calls `between`
  // after each part, with the stripe that it ends at.
  absl::Status Recover(uint64_t stripes, const std::function<absl::Status(uint64_t)>& between);
  // The same, with a checkpoint now and then.
  absl::Status Recover(uint64_t stripes = 5);

  const ArraySpec& spec() const { return spec_; }
  const ArrayGeometry& geometry() const { return geometry_; }
  Disks& disks() { return disks_; }
  FakeClock& clock() { return clock_; }
  EventLog& events() { return events_; }
  Recording& recording() { return recording_; }
  // Of an open member, by its disk's index.
  FaultDevice& fault(size_t disk) { return *faults_[disk]; }
  // The first event of this kind, as FormatEvent has it without the time; "" when there is none.
  std::string EventText(const std::string& what) const;

  // Volume I/O that keeps the model in step: a write that fails makes it forget the range.
  absl::Status Write(uint64_t offset_bytes, uint64_t length_bytes);
  absl::Status Zero(uint64_t offset_bytes, uint64_t length_bytes);
  // Writes all of the volume.
  absl::Status Fill();
  StripeModel& model() { return model_; }
  // All of the volume, read through the array, against the model.
  std::string CheckVolume();
  // The same with these disks alone, read-only, on copies of the disks; of an open array too.
  std::string CheckVolumeWithout(std::vector<size_t> lost);
  // What is on the disk in each of these slots against the model, data and parity; none: all disks
  // in slots.
  std::string CheckDisks(std::vector<size_t> slots = {});
  // Whether the disk holds what belongs into the slot.
  std::string CheckDiskInSlot(size_t disk, size_t slot);
  // The same of the first bytes of one slot's data area.
  std::string CheckDisk(size_t slot, uint64_t length_bytes);
  // The stripes of which P or Q does not fit the data.
  std::vector<uint64_t> InconsistentStripes();

  Superblock super(size_t disk) const;
  void PutSuper(size_t disk, Superblock super);  // with its checksum made right
  BitmapSuperblock bitmap_super(size_t disk) const;
  void PutBitmapSuper(size_t disk, const BitmapSuperblock& super);
  uint64_t bits() const { return plan_.bitmap_bits.size(); }
  bool Bit(size_t disk, uint64_t bit) const;
  void PutBit(size_t disk, uint64_t bit, bool value);
  uint64_t CountBits(size_t disk) const;
  // Every disk's superblock is whole.
  std::string CheckSupers() const;
  std::string CheckSupersOf(const std::vector<size_t>& disks) const;

  // Of a disk that was added later too: all are of one size.
  const MemberAreas& areas(size_t disk) const {
    return plan_.members[disk < plan_.members.size() ? disk : 0].areas;
  }
  bool IsData(const RecordedRequest& request) const {
    return request.Changes() &&
           request.Touches(areas(request.member).data.begin, areas(request.member).data.end);
  }
  bool IsBitmap(const RecordedRequest& request) const {
    return request.Changes() &&
           request.Touches(areas(request.member).bitmap.begin, areas(request.member).bitmap.end);
  }
  bool IsSuper(const RecordedRequest& request) const {
    return request.Changes() &&
           request.Touches(areas(request.member).super.begin, areas(request.member).super.end);
  }
  // The disk that holds a data chunk, and where on it.
  size_t DiskOf(uint64_t volume_offset_bytes) const {
    return geometry_.Locate(volume_offset_bytes).slot;
  }
  uint64_t DiskOffset(uint64_t volume_offset_bytes) const;
  uint64_t BitOf(uint64_t volume_offset_bytes) const;

  Prng& prng() { return prng_; }

 private:
  void Close();
  std::unique_ptr<MemberDevice> OpenDisk(size_t disk);
  std::string CheckDisk(size_t disk, size_t slot, uint64_t length_bytes);
  oracle::Shape Shape() const;
  std::vector<oracle::Bytes> DataAreas() const;

  const ArraySpec spec_;
  const CreatePlan plan_;
  const ArrayGeometry geometry_;
  Prng prng_;
  Disks disks_;
  FakeClock clock_;
  EventLog events_;
  Recording recording_;
  StripeModel model_;
  std::vector<FaultDevice*> faults_;
  std::unique_ptr<Array> array_;
};

}  // namespace mdvol::testing

#endif  // MDVOL_TESTS_SUPPORT_TEST_ARRAY_TEST_ARRAY_H_
