// See operations.h.

#include "fuse/operations.h"

#include <fcntl.h>
#include <linux/fuse.h>
#include <sys/uio.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "core/base/status.h"
#include "fuse/negotiate.h"
#include "fuse/open_control_file.h"
#include "fuse/thread_buffer.h"

namespace mdvol {
namespace {

// How long the kernel may rely on what does not change by itself. What it changes on request, it
// updates.
constexpr double kForeverSeconds = 365.0 * 24 * 3600;

using Listing = std::vector<TreeEntry>;

// Handles travel through the kernel as 64-bit numbers.
static_assert(sizeof(uint64_t) >= sizeof(void*));

template <typename Handle>
uint64_t ToHandle(Handle* handle) {
  return reinterpret_cast<uint64_t>(handle);
}

template <typename Handle>
Handle* FromHandle(const fuse_file_info* info) {
  return reinterpret_cast<Handle*>(info->fh);
}

OperationsContext& ContextOf(fuse_req_t request) {
  return *static_cast<OperationsContext*>(fuse_req_userdata(request));
}

Tree& TreeOf(fuse_req_t request) { return ContextOf(request).tree; }

VolumeFile& VolumeOf(fuse_req_t request) { return TreeOf(request).volume(); }

void ReplyStatus(fuse_req_t request, const absl::Status& status) {
  fuse_reply_err(request, ErrnoOf(status));
}

std::span<const std::byte> AsBytes(const char* data, size_t size) {
  return {reinterpret_cast<const std::byte*>(data), size};
}

// ---- Session ---------------------------------------------------------------------------------

void Init(void* user_data, fuse_conn_info* connection) {
  auto& context = *static_cast<OperationsContext*>(user_data);
  Negotiate(*connection, context);
  context.initialized = true;
}

// ---- Names and attributes --------------------------------------------------------------------

void Lookup(fuse_req_t request, fuse_ino_t parent, const char* name) {
  if (std::strlen(name) > NAME_MAX) {
    fuse_reply_err(request, ENAMETOOLONG);  // The kernel passes on longer ones.
    return;
  }
  const absl::StatusOr<TreeEntry> entry = TreeOf(request).Lookup(parent, name);
  if (!entry.ok()) {
    ReplyStatus(request, entry.status());
    return;
  }
  fuse_entry_param reply{};
  reply.ino = entry->attributes.st_ino;
  reply.attr = entry->attributes;
  reply.attr_timeout = entry->lasting ? kForeverSeconds : 0;
  reply.entry_timeout = entry->lasting ? kForeverSeconds : 0;
  fuse_reply_entry(request, &reply);
}

// Inode numbers are never used twice (tree.h), so nothing needs counting.
void Forget(fuse_req_t request, fuse_ino_t, uint64_t) { fuse_reply_none(request); }

void ReplyAttributes(fuse_req_t request, fuse_ino_t inode) {
  const absl::StatusOr<struct stat> attributes = TreeOf(request).Attributes(inode);
  if (!attributes.ok()) {
    ReplyStatus(request, attributes.status());
    return;
  }
  fuse_reply_attr(request, &*attributes, inode == kVolumeInode ? kForeverSeconds : 0);
}

void GetAttributes(fuse_req_t request, fuse_ino_t inode, fuse_file_info*) {
  ReplyAttributes(request, inode);
}

timespec NowOr(bool is_now, const timespec& time) {
  if (!is_now) {
    return time;
  }
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return now;
}

AttributeChange ChangeOf(const struct stat& wanted, int to_set) {
  AttributeChange change;
  if ((to_set & FUSE_SET_ATTR_MODE) != 0) {
    change.permissions = wanted.st_mode;
  }
  if ((to_set & FUSE_SET_ATTR_UID) != 0) {
    change.uid = wanted.st_uid;
  }
  if ((to_set & FUSE_SET_ATTR_GID) != 0) {
    change.gid = wanted.st_gid;
  }
  if ((to_set & FUSE_SET_ATTR_SIZE) != 0) {
    change.size_bytes = static_cast<uint64_t>(wanted.st_size);
  }
  if ((to_set & (FUSE_SET_ATTR_ATIME | FUSE_SET_ATTR_ATIME_NOW)) != 0) {
    change.accessed = NowOr((to_set & FUSE_SET_ATTR_ATIME_NOW) != 0, wanted.st_atim);
  }
  if ((to_set & (FUSE_SET_ATTR_MTIME | FUSE_SET_ATTR_MTIME_NOW)) != 0) {
    change.modified = NowOr((to_set & FUSE_SET_ATTR_MTIME_NOW) != 0, wanted.st_mtim);
  }
  return change;
}

// Control files take what `echo value >file` and touch do, and nothing that would have to last.
absl::Status CheckControlChange(const AttributeChange& change) {
  if (change.permissions.has_value() || change.uid.has_value() || change.gid.has_value() ||
      change.size_bytes.value_or(0) != 0) {
    return ErrnoStatus(EPERM, "a control file's mode, owner and size are fixed");
  }
  return absl::OkStatus();
}

void SetAttributes(fuse_req_t request, fuse_ino_t inode, struct stat* wanted, int to_set,
                   fuse_file_info*) {
  const AttributeChange change = ChangeOf(*wanted, to_set);
  const absl::Status status =
      inode == kVolumeInode ? VolumeOf(request).SetAttributes(change) : CheckControlChange(change);
  if (!status.ok()) {
    ReplyStatus(request, status);
    return;
  }
  ReplyAttributes(request, inode);
}

void ReadLink(fuse_req_t request, fuse_ino_t inode) {
  const absl::StatusOr<std::string> path = TreeOf(request).PathOf(inode);
  const absl::StatusOr<std::string> target =
      path.ok() ? TreeOf(request).control()->Show(*path) : path.status();
  if (!target.ok()) {
    ReplyStatus(request, target.status());
    return;
  }
  fuse_reply_readlink(request, target->c_str());
}

void StatFileSystem(fuse_req_t request, fuse_ino_t) {
  const struct statvfs attributes = VolumeOf(request).FileSystemAttributes();
  fuse_reply_statfs(request, &attributes);
}

// ---- Folders ---------------------------------------------------------------------------------

// The listing is taken once and read in pieces, so that it is of one moment.
void OpenFolder(fuse_req_t request, fuse_ino_t inode, fuse_file_info* info) {
  absl::StatusOr<Listing> entries = TreeOf(request).List(inode);
  if (!entries.ok()) {
    ReplyStatus(request, entries.status());
    return;
  }
  auto listing = std::make_unique<Listing>(*std::move(entries));
  info->fh = ToHandle(listing.get());
  // When the open was interrupted, no release follows.
  if (fuse_reply_open(request, info) == 0) {
    listing.release();
  }
}

void ReadFolder(fuse_req_t request, fuse_ino_t, size_t size, off_t offset, fuse_file_info* info) {
  const Listing& listing = *FromHandle<Listing>(info);
  const std::span<std::byte> buffer = ThreadBuffer(size);
  char* const out = reinterpret_cast<char*>(buffer.data());
  size_t used = 0;
  for (auto i = static_cast<size_t>(offset); i < listing.size(); ++i) {
    const size_t needed =
        fuse_add_direntry(request, out + used, size - used, listing[i].name.c_str(),
                          &listing[i].attributes, static_cast<off_t>(i + 1));
    if (needed > size - used) {
      break;
    }
    used += needed;
  }
  fuse_reply_buf(request, out, used);
}

void ReleaseFolder(fuse_req_t request, fuse_ino_t, fuse_file_info* info) {
  delete FromHandle<Listing>(info);
  fuse_reply_err(request, 0);
}

// ---- The volume ------------------------------------------------------------------------------

// What OpenVolume gives a handle. The kernel flushes after a write of a plain handle that asks for
// O_DSYNC, O_SYNC or RWF_DSYNC; of a FOPEN_DIRECT_IO handle it only passes the flags on. Kept apart
// by how the handle was opened, because fcntl can take O_DIRECT off its flags later.
constexpr uint64_t kPlainHandle = 0;
constexpr uint64_t kParallelHandle = 1;

// Writes of several threads through O_DIRECT are then carried side by side, as on a block device; a
// plain open lets them in one by one. libfuse 3.14 has no name for FOPEN_PARALLEL_DIRECT_WRITES, so
// the kernel's own struct is sent.
int ReplyOpenParallel(fuse_req_t request) {
  fuse_open_out reply{};
  reply.fh = kParallelHandle;
  // KEEP_CACHE: what buffered openers have cached stays valid, and theirs.
  reply.open_flags = FOPEN_DIRECT_IO | FOPEN_PARALLEL_DIRECT_WRITES | FOPEN_KEEP_CACHE;
  const iovec data{&reply, sizeof(reply)};
  return fuse_reply_iov(request, &data, 1);
}

void OpenVolume(fuse_req_t request, fuse_file_info* info) {
  const OperationsContext& context = ContextOf(request);
  VolumeFile& volume = VolumeOf(request);
  const absl::Status status = volume.Open(info->flags);
  if (!status.ok()) {
    ReplyStatus(request, status);
    return;
  }
  info->fh = kPlainHandle;
  info->keep_cache = 1;
  const bool is_parallel = (info->flags & O_DIRECT) != 0 && context.has_parallel_direct_writes;
  const int result = is_parallel ? ReplyOpenParallel(request) : fuse_reply_open(request, info);
  if (result != 0) {
    volume.Release();
  }
}

void ReadVolume(fuse_req_t request, size_t size, off_t offset) {
  const std::span<std::byte> buffer = ThreadBuffer(size);
  const absl::StatusOr<size_t> count =
      VolumeOf(request).Read(static_cast<uint64_t>(offset), buffer);
  if (!count.ok()) {
    ReplyStatus(request, count.status());
    return;
  }
  fuse_reply_buf(request, reinterpret_cast<const char*>(buffer.data()), *count);
}

// What a write needs when it is carried out later, by another thread.
struct ParkedWrite {
  AlignedBuffer data;
  size_t size = 0;
  fuse_file_info info{};
};

// Keeps the request until its bytes are no longer suspended; false when they are not.
bool Park(fuse_req_t request, uint64_t offset_bytes, uint64_t length_bytes,
          std::function<void()> again) {
  Suspension* const suspension = ContextOf(request).suspension;
  return suspension != nullptr && suspension->Park(offset_bytes, length_bytes, std::move(again));
}

void WriteVolume(fuse_req_t request, const char* data, size_t size, off_t offset,
                 const fuse_file_info* info);

bool ParkWrite(fuse_req_t request, const char* data, size_t size, off_t offset,
               const fuse_file_info* info) {
  auto parked = std::make_shared<ParkedWrite>();
  parked->data = AlignedBuffer(size);
  parked->size = size;
  parked->info = *info;
  std::memcpy(parked->data.data(), data, size);
  return Park(request, static_cast<uint64_t>(offset), size, [request, parked, offset] {
    WriteVolume(request, reinterpret_cast<const char*>(parked->data.data()), parked->size, offset,
                &parked->info);
  });
}

// `data` lies in the worker's own receive buffer, where the kernel has copied it: nobody can change
// it while parity is computed (I4). The buffer is placed so that it is aligned, too (worker.h).
void WriteVolume(fuse_req_t request, const char* data, size_t size, off_t offset,
                 const fuse_file_info* info) {
  VolumeFile& volume = VolumeOf(request);
  absl::StatusOr<size_t> count = volume.Write(static_cast<uint64_t>(offset), AsBytes(data, size));
  while (ErrnoOf(count.status()) == EAGAIN) {
    if (ParkWrite(request, data, size, offset, info)) {
      return;
    }
    count = volume.Write(static_cast<uint64_t>(offset), AsBytes(data, size));
  }
  if (!count.ok()) {
    ReplyStatus(request, count.status());
    return;
  }
  if (info->fh == kParallelHandle && (info->flags & (O_DSYNC | O_SYNC)) != 0) {
    if (const absl::Status flushed = volume.Sync(); !flushed.ok()) {
      ReplyStatus(request, flushed);
      return;
    }
  }
  fuse_reply_write(request, *count);
}

void Sync(fuse_req_t request, fuse_ino_t inode, int, fuse_file_info*) {
  ReplyStatus(request, inode == kVolumeInode ? VolumeOf(request).Sync() : absl::OkStatus());
}

void AllocateVolume(fuse_req_t request, int mode, uint64_t offset_bytes, uint64_t length_bytes) {
  absl::Status status = VolumeOf(request).Allocate(mode, offset_bytes, length_bytes);
  while (ErrnoOf(status) == EAGAIN) {
    if (Park(request, offset_bytes, length_bytes,
             [=] { AllocateVolume(request, mode, offset_bytes, length_bytes); })) {
      return;
    }
    status = VolumeOf(request).Allocate(mode, offset_bytes, length_bytes);
  }
  ReplyStatus(request, status);
}

void Allocate(fuse_req_t request, fuse_ino_t inode, int mode, off_t offset, off_t length,
              fuse_file_info*) {
  if (inode != kVolumeInode) {
    fuse_reply_err(request, EOPNOTSUPP);
    return;
  }
  AllocateVolume(request, mode, static_cast<uint64_t>(offset), static_cast<uint64_t>(length));
}

void Seek(fuse_req_t request, fuse_ino_t inode, off_t offset, int whence, fuse_file_info*) {
  if (inode != kVolumeInode) {
    fuse_reply_err(request, EINVAL);
    return;
  }
  const absl::StatusOr<uint64_t> found = VolumeOf(request).Seek(offset, whence);
  if (!found.ok()) {
    ReplyStatus(request, found.status());
    return;
  }
  fuse_reply_lseek(request, static_cast<off_t>(*found));
}

// ---- Control files ---------------------------------------------------------------------------

void OpenControl(fuse_req_t request, fuse_ino_t inode, fuse_file_info* info) {
  absl::StatusOr<std::unique_ptr<OpenControlFile>> file =
      OpenControlFile::Open(TreeOf(request), inode, info->flags);
  if (!file.ok()) {
    ReplyStatus(request, file.status());
    return;
  }
  info->fh = ToHandle(file->get());
  info->direct_io = 1;  // The length is known only once the content is.
  if (fuse_reply_open(request, info) == 0) {
    file->release();
  }
}

void ReadControl(fuse_req_t request, size_t size, off_t offset, fuse_file_info* info) {
  const absl::StatusOr<std::shared_ptr<const std::string>> content =
      FromHandle<OpenControlFile>(info)->Content(static_cast<uint64_t>(offset));
  if (!content.ok()) {
    ReplyStatus(request, content.status());
    return;
  }
  const std::string_view text = **content;
  const size_t at =
      static_cast<uint64_t>(offset) == kReasonOffset ? 0 : static_cast<size_t>(offset);
  const std::string_view piece = text.substr(std::min(text.size(), at), size);
  fuse_reply_buf(request, piece.data(), piece.size());
}

void WriteControl(fuse_req_t request, const char* data, size_t size, fuse_file_info* info) {
  const absl::Status status = FromHandle<OpenControlFile>(info)->Store({data, size});
  if (!status.ok()) {
    ReplyStatus(request, status);
    return;
  }
  fuse_reply_write(request, size);
}

// ---- Both kinds of file ----------------------------------------------------------------------

void Open(fuse_req_t request, fuse_ino_t inode, fuse_file_info* info) {
  inode == kVolumeInode ? OpenVolume(request, info) : OpenControl(request, inode, info);
}

void Read(fuse_req_t request, fuse_ino_t inode, size_t size, off_t offset, fuse_file_info* info) {
  inode == kVolumeInode ? ReadVolume(request, size, offset)
                        : ReadControl(request, size, offset, info);
}

void Write(fuse_req_t request, fuse_ino_t inode, const char* data, size_t size, off_t offset,
           fuse_file_info* info) {
  inode == kVolumeInode ? WriteVolume(request, data, size, offset, info)
                        : WriteControl(request, data, size, info);
}

void Release(fuse_req_t request, fuse_ino_t inode, fuse_file_info* info) {
  if (inode == kVolumeInode) {
    VolumeOf(request).Release();
  } else {
    delete FromHandle<OpenControlFile>(info);
  }
  fuse_reply_err(request, 0);
}

// ---- What the tree does not allow ------------------------------------------------------------

void RefuseMakeNode(fuse_req_t request, fuse_ino_t, const char*, mode_t, dev_t) {
  fuse_reply_err(request, EPERM);
}
void RefuseMakeFolder(fuse_req_t request, fuse_ino_t, const char*, mode_t) {
  fuse_reply_err(request, EPERM);
}
void RefuseCreate(fuse_req_t request, fuse_ino_t, const char*, mode_t, fuse_file_info*) {
  fuse_reply_err(request, EPERM);
}
void RefuseRemove(fuse_req_t request, fuse_ino_t, const char*) { fuse_reply_err(request, EPERM); }
void RefuseRename(fuse_req_t request, fuse_ino_t, const char*, fuse_ino_t, const char*, unsigned) {
  fuse_reply_err(request, EPERM);
}
void RefuseLink(fuse_req_t request, fuse_ino_t, fuse_ino_t, const char*) {
  fuse_reply_err(request, EPERM);
}
void RefuseSymbolicLink(fuse_req_t request, const char*, fuse_ino_t, const char*) {
  fuse_reply_err(request, EPERM);
}

fuse_lowlevel_ops MakeOperations() {
  fuse_lowlevel_ops operations{};
  operations.init = Init;
  operations.lookup = Lookup;
  operations.forget = Forget;
  operations.getattr = GetAttributes;
  operations.setattr = SetAttributes;
  operations.readlink = ReadLink;
  operations.statfs = StatFileSystem;
  operations.opendir = OpenFolder;
  operations.readdir = ReadFolder;
  operations.releasedir = ReleaseFolder;
  operations.open = Open;
  operations.read = Read;
  operations.write = Write;
  operations.release = Release;
  operations.fsync = Sync;
  operations.fallocate = Allocate;
  operations.lseek = Seek;
  operations.mknod = RefuseMakeNode;
  operations.mkdir = RefuseMakeFolder;
  operations.create = RefuseCreate;
  operations.unlink = RefuseRemove;
  operations.rmdir = RefuseRemove;
  operations.rename = RefuseRename;
  operations.link = RefuseLink;
  operations.symlink = RefuseSymbolicLink;
  // Left out on purpose. flush: close() has nothing to wait for, and the kernel, once told ENOSYS,
  // writes mapped pages back at close without asking us each time. getxattr: likewise it stops
  // asking for security.capability before every write. access: default_permissions answers it.
  return operations;
}

}  // namespace

const fuse_lowlevel_ops& Operations() {
  static const fuse_lowlevel_ops kOperations = MakeOperations();
  return kOperations;
}

}  // namespace mdvol
