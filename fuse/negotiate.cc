// See negotiate.h.

#include "fuse/negotiate.h"

namespace mdvol {
namespace {

// Requests in the background (read-ahead, asynchronous direct I/O) that the kernel lets us have at
// once. Its default of 12 would cut a queue of 32 down.
constexpr unsigned kMaxBackground = 256;

// Linux 6.9: direct writes of one file run side by side where we allow it, and write-back, page
// cache and FOPEN_DIRECT_IO handles of one file are kept coherent. Before that, a FOPEN_DIRECT_IO
// handle left stale pages to the buffered openers.
constexpr unsigned kCoherentDirectHandles = 40;

#if FUSE_VERSION >= FUSE_MAKE_VERSION(3, 17)
using Capability = uint64_t;
void Want(fuse_conn_info& connection, Capability capability) {
  fuse_set_feature_flag(&connection, capability);
}
void Refuse(fuse_conn_info& connection, Capability capability) {
  fuse_unset_feature_flag(&connection, capability);
}
#else
using Capability = unsigned;
void Want(fuse_conn_info& connection, Capability capability) {
  connection.want |= connection.capable & capability;
}
void Refuse(fuse_conn_info& connection, Capability capability) { connection.want &= ~capability; }
#endif

// Shared mappings of O_DIRECT handles, without which we would rather have no parallel writes.
bool AskForDirectMmap(fuse_conn_info& connection, const OperationsContext& context) {
#ifdef FUSE_CAP_DIRECT_IO_ALLOW_MMAP
  static_cast<void>(context);
  return fuse_set_feature_flag(&connection, FUSE_CAP_DIRECT_IO_ALLOW_MMAP);
#else
  static_cast<void>(connection);
  return context.init_extension.kernel_offers_direct_mmap;
#endif
}

}  // namespace

void Negotiate(fuse_conn_info& connection, OperationsContext& context) {
  connection.max_write = kMaxRequestBytes;
  connection.max_background = kMaxBackground;
  connection.congestion_threshold = kMaxBackground * 3 / 4;
  // max_readahead stays what the kernel offers: it can only be lowered here.

  // Read-ahead is sent while the reader goes on, several requests at once, in any order.
  Want(connection, FUSE_CAP_ASYNC_READ);
  // io_uring and libaio with O_DIRECT have many requests in flight instead of one after the other.
  Want(connection, FUSE_CAP_ASYNC_DIO);
  // Look-ups and listings in one folder do not wait for each other.
  Want(connection, FUSE_CAP_PARALLEL_DIROPS);
  // Cached pages are dropped when we say so and never because of times or size: nobody but the
  // kernel itself and our repairs changes the volume behind the page cache.
  Want(connection, FUSE_CAP_EXPLICIT_INVAL_DATA);
  Refuse(connection, FUSE_CAP_AUTO_INVAL_DATA);

  // Splicing through a pipe was 3 to 5 times slower at 1 MiB than one copy.
  Refuse(connection, FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE | FUSE_CAP_SPLICE_MOVE);
  // With it an O_TRUNC throws away the pages that another opener has mapped and written, without
  // asking us; without it, it arrives as a setattr to size 0, which changes nothing.
  Refuse(connection, FUSE_CAP_ATOMIC_O_TRUNC);
  // The kernel itself drops set-uid bits; it would otherwise be ours to do.
  Refuse(connection, FUSE_CAP_HANDLE_KILLPRIV);
  // rdN links come and go.
  Refuse(connection, FUSE_CAP_CACHE_SYMLINKS);
  // The kernel decides about the size and writes later, so a write past the end is refused only at
  // fsync. The owner of the configuration may want that for small buffered writes.
  if (context.writeback) {
    Want(connection, FUSE_CAP_WRITEBACK_CACHE);
  } else {
    Refuse(connection, FUSE_CAP_WRITEBACK_CACHE);
  }

  // With write-back the kernel keeps a size of its own; direct handles stay as they are then.
  context.has_parallel_direct_writes = !context.writeback &&
                                       connection.proto_minor >= kCoherentDirectHandles &&
                                       AskForDirectMmap(connection, context);
}

}  // namespace mdvol
