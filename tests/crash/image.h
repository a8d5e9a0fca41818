// Image: a member's bytes in one crash state. Starts from base bytes, remembers in pages of 4 KiB
// what was changed since, and goes back to the base at the price of what was changed: many states
// that differ little are made from one image.
//
// One thread at a time; the device of an image too, which borrows it.

#ifndef MDVOL_TESTS_CRASH_IMAGE_H_
#define MDVOL_TESTS_CRASH_IMAGE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/device/member_device.h"

namespace mdvol::crash {

class Image {
 public:
  Image(std::string path, std::vector<std::byte> base);

  const std::string& path() const { return path_; }
  std::span<const std::byte> bytes() const { return bytes_; }

  void Write(uint64_t offset_bytes, std::span<const std::byte> data);
  void Zero(uint64_t offset_bytes, uint64_t length_bytes);
  // Back to the base.
  void Reset();
  // The same for equal bytes on equal bases, whatever was written to come there.
  uint64_t ChangeHash() const;

 private:
  // Notes that the range is about to change.
  void Touch(uint64_t offset_bytes, uint64_t length_bytes);

  std::string path_;
  std::vector<std::byte> base_;
  std::vector<std::byte> bytes_;
  std::vector<bool> is_changed_;  // by page
  std::vector<size_t> changed_;   // the pages
};

std::unique_ptr<MemberDevice> OpenImage(Image& image);

// Of bytes; not for hostile ones.
uint64_t HashBytes(std::span<const std::byte> bytes, uint64_t seed);

}  // namespace mdvol::crash

#endif  // MDVOL_TESTS_CRASH_IMAGE_H_
