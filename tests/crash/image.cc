// See image.h.

#include "tests/crash/image.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "core/device/request_check.h"

namespace mdvol::crash {
namespace {

constexpr uint64_t kPageBytes = 4096;

class ImageDevice final : public MemberDevice {
 public:
  explicit ImageDevice(Image& image) : image_(image) {}

  const std::string& path() const override { return image_.path(); }
  uint64_t size_bytes() const override { return image_.bytes().size(); }
  uint32_t alignment_bytes() const override { return 1; }
  bool read_only() const override { return false; }

  void Submit(IoRequest& request) override {
    request.error = CheckRequest(request, {.size_bytes = size_bytes()});
    if (request.error != 0 || request.kind == IoKind::kFlush) {
      return;
    }
    if (request.kind == IoKind::kZero) {
      image_.Zero(request.offset_bytes, request.length_bytes);
      return;
    }
    uint64_t offset_bytes = request.offset_bytes;
    for (const iovec& buffer : request.buffers) {
      auto* data = static_cast<std::byte*>(buffer.iov_base);
      if (request.kind == IoKind::kRead) {
        std::memcpy(data, image_.bytes().data() + offset_bytes, buffer.iov_len);
      } else {
        image_.Write(offset_bytes, {data, buffer.iov_len});
      }
      offset_bytes += buffer.iov_len;
    }
  }
  void Wait(IoRequest& /*request*/) override {}

  absl::StatusOr<uint64_t> NextData(uint64_t offset_bytes) override { return offset_bytes; }
  absl::StatusOr<uint64_t> NextHole(uint64_t /*offset_bytes*/) override { return size_bytes(); }

 private:
  Image& image_;
};

}  // namespace

Image::Image(std::string path, std::vector<std::byte> base)
    : path_(std::move(path)),
      base_(std::move(base)),
      bytes_(base_),
      is_changed_(base_.size() / kPageBytes + 1) {}

void Image::Touch(uint64_t offset_bytes, uint64_t length_bytes) {
  for (size_t page = offset_bytes / kPageBytes; page * kPageBytes < offset_bytes + length_bytes;
       ++page) {
    if (!is_changed_[page]) {
      is_changed_[page] = true;
      changed_.push_back(page);
    }
  }
}

void Image::Write(uint64_t offset_bytes, std::span<const std::byte> data) {
  Touch(offset_bytes, data.size());
  std::ranges::copy(data, bytes_.begin() + static_cast<ptrdiff_t>(offset_bytes));
}

void Image::Zero(uint64_t offset_bytes, uint64_t length_bytes) {
  Touch(offset_bytes, length_bytes);
  std::memset(bytes_.data() + offset_bytes, 0, length_bytes);
}

void Image::Reset() {
  for (const size_t page : changed_) {
    const size_t begin = page * kPageBytes;
    const size_t length = std::min<size_t>(kPageBytes, bytes_.size() - begin);
    std::memcpy(bytes_.data() + begin, base_.data() + begin, length);
    is_changed_[page] = false;
  }
  changed_.clear();
}

uint64_t Image::ChangeHash() const {
  uint64_t sum = 0;
  for (const size_t page : changed_) {
    const size_t begin = page * kPageBytes;
    const size_t length = std::min<size_t>(kPageBytes, bytes_.size() - begin);
    sum += HashBytes(std::span(bytes_).subspan(begin, length), page) -
           HashBytes(std::span(base_).subspan(begin, length), page);
  }
  return sum;
}

std::unique_ptr<MemberDevice> OpenImage(Image& image) {
  return std::make_unique<ImageDevice>(image);
}

uint64_t HashBytes(std::span<const std::byte> bytes, uint64_t seed) {
  uint64_t hash = (seed + 1) * 0x9e3779b97f4a7c15;
  while (!bytes.empty()) {
    uint64_t word = 0;
    const size_t length = std::min(sizeof(word), bytes.size());
    std::memcpy(&word, bytes.data(), length);
    hash = std::rotl((hash ^ word) * 0xff51afd7ed558ccd, 29);
    bytes = bytes.subspan(length);
  }
  return hash ^ (hash >> 32);
}

}  // namespace mdvol::crash
