// AlignedBuffer: owned bytes at a page boundary, as O_DIRECT members and vector code want them.
// Movable, not copyable; one owner at a time, no locking.

#ifndef MDVOL_CORE_BASE_ALIGNED_BUFFER_H_
#define MDVOL_CORE_BASE_ALIGNED_BUFFER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <utility>

namespace mdvol {

inline constexpr size_t kBufferAlignment = 4096;

// `alignment` is a power of two.
constexpr bool IsAligned(uint64_t value, uint64_t alignment) {
  return (value & (alignment - 1)) == 0;
}
inline bool IsAligned(const void* address, uint64_t alignment) {
  return IsAligned(reinterpret_cast<uintptr_t>(address), alignment);
}

class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  // The contents are not initialised. Throws std::bad_alloc when memory is out, as operator new
  // does.
  explicit AlignedBuffer(size_t size_bytes)
      : bytes_(static_cast<std::byte*>(
            ::operator new(size_bytes, std::align_val_t(kBufferAlignment)))),
        size_bytes_(size_bytes) {}

  AlignedBuffer(AlignedBuffer&& other) noexcept
      : bytes_(std::move(other.bytes_)), size_bytes_(std::exchange(other.size_bytes_, 0)) {}
  AlignedBuffer& operator=(AlignedBuffer&& other) noexcept {
    bytes_ = std::move(other.bytes_);
    size_bytes_ = std::exchange(other.size_bytes_, 0);
    return *this;
  }

  std::byte* data() { return bytes_.get(); }
  const std::byte* data() const { return bytes_.get(); }
  size_t size() const { return size_bytes_; }
  std::span<std::byte> span() { return {data(), size_bytes_}; }
  std::span<const std::byte> span() const { return {data(), size_bytes_}; }

 private:
  struct Deleter {
    void operator()(std::byte* bytes) const {
      ::operator delete(bytes, std::align_val_t(kBufferAlignment));
    }
  };
  std::unique_ptr<std::byte, Deleter> bytes_;
  size_t size_bytes_ = 0;
};

}  // namespace mdvol

#endif  // MDVOL_CORE_BASE_ALIGNED_BUFFER_H_
