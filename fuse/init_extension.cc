// See init_extension.h. Structs: linux/fuse.h.

#include "fuse/init_extension.h"

#include <linux/fuse.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstring>

#include "fuse/operations.h"

namespace mdvol {

#ifdef FUSE_CAP_DIRECT_IO_ALLOW_MMAP

int ExtendInit(fuse_session*) { return 0; }

#else

namespace {

// Bit 36 of the flags: FUSE_DIRECT_IO_ALLOW_MMAP. Older headers do not know it.
constexpr uint32_t kDirectMmapInFlags2 = 1U << (36 - 32);
constexpr uint32_t kHasFlags2 = 1U << 30;  // FUSE_INIT_EXT

InitExtension& ExtensionOf(void* user_data) {
  return static_cast<OperationsContext*>(user_data)->init_extension;
}

void LookAtRequest(const void* data, size_t size, InitExtension& extension) {
  fuse_in_header header;
  fuse_init_in init;
  extension.request_seen = true;
  if (size < sizeof(header) + sizeof(init)) {
    return;  // A kernel that has no flags2.
  }
  std::memcpy(&header, data, sizeof(header));
  std::memcpy(&init, static_cast<const char*>(data) + sizeof(header), sizeof(init));
  extension.kernel_offers_direct_mmap = header.opcode == FUSE_INIT &&
                                        (init.flags & kHasFlags2) != 0 &&
                                        (init.flags2 & kDirectMmapInFlags2) != 0;
}

void AmendReply(const iovec* pieces, int count, InitExtension& extension) {
  extension.reply_sent = true;
  if (!extension.kernel_offers_direct_mmap || count != 2 ||
      pieces[1].iov_len < sizeof(fuse_init_out)) {
    extension.kernel_offers_direct_mmap = false;
    return;
  }
  auto* const init = static_cast<fuse_init_out*>(pieces[1].iov_base);
  init->flags |= kHasFlags2;
  init->flags2 |= kDirectMmapInFlags2;
}

ssize_t Read(int fd, void* data, size_t size, void* user_data) {
  const ssize_t count = ::read(fd, data, size);
  InitExtension& extension = ExtensionOf(user_data);
  if (!extension.request_seen && count > 0) {
    LookAtRequest(data, static_cast<size_t>(count), extension);
  }
  return count;
}

ssize_t Write(int fd, iovec* pieces, int count, void* user_data) {
  InitExtension& extension = ExtensionOf(user_data);
  if (!extension.reply_sent) {
    AmendReply(pieces, count, extension);
  }
  return ::writev(fd, pieces, count);
}

}  // namespace

int ExtendInit(fuse_session* session) {
  fuse_custom_io io{};
  io.read = Read;
  io.writev = Write;
  return fuse_session_custom_io(session, &io, fuse_session_fd(session));
}

#endif  // FUSE_CAP_DIRECT_IO_ALLOW_MMAP

}  // namespace mdvol
