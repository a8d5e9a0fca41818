// See tree.h.

#include "fuse/tree.h"

#include <cerrno>
#include <utility>

#include "core/base/status.h"

namespace mdvol {
namespace {

constexpr uint64_t kFirstControlInode = 3;
constexpr mode_t kFolderMode = S_IFDIR | 0555;  // nothing can be made or removed here

mode_t ModeOf(const ControlEntry& entry) {
  switch (entry.kind) {
    case ControlKind::kFolder:
      return kFolderMode;
    case ControlKind::kLink:
      return S_IFLNK | 0777;
    case ControlKind::kFile:
      return S_IFREG | (entry.writable ? 0644 : 0444);
  }
  return 0;
}

std::string Join(std::string_view folder, std::string_view name) {
  std::string path(folder);
  if (!path.empty()) {
    path += '/';
  }
  return path.append(name);
}

std::string_view ParentOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

absl::Status NotFound(std::string_view name) {
  return ErrnoStatus(ENOENT, std::string(name) + ": no such file");
}

}  // namespace

Tree::Tree(const TreeOptions& options, VolumeFile& volume, ControlFiles* control, Clock& clock)
    : options_(options), volume_(volume), control_(control), started_us_(clock.WallUs()) {}

absl::StatusOr<TreeEntry> Tree::Lookup(uint64_t parent_inode, std::string_view name) {
  if (parent_inode == kRootInode && name == options_.volume_name) {
    return TreeEntry{options_.volume_name, VolumeAttributes(), true};
  }
  if (control_ == nullptr) {
    return NotFound(name);
  }
  MDVOL_ASSIGN_OR_RETURN(const std::string folder, PathOf(parent_inode));
  const std::string path = Join(folder, name);
  MDVOL_ASSIGN_OR_RETURN(ControlEntry entry, control_->Find(path));
  const struct stat attributes = AttributesOf(InodeOf(path), entry);
  return TreeEntry{std::move(entry.name), attributes, entry.lasting};
}

absl::StatusOr<struct stat> Tree::Attributes(uint64_t inode) const {
  if (inode == kVolumeInode) {
    return VolumeAttributes();
  }
  if (inode == kRootInode) {
    return AttributesOf(inode, ControlEntry{"", ControlKind::kFolder, false, true});
  }
  MDVOL_ASSIGN_OR_RETURN(const std::string path, PathOf(inode));
  MDVOL_ASSIGN_OR_RETURN(const ControlEntry entry, control_->Find(path));
  return AttributesOf(inode, entry);
}

absl::StatusOr<std::vector<TreeEntry>> Tree::List(uint64_t inode) {
  MDVOL_ASSIGN_OR_RETURN(const std::string path, PathOf(inode));
  std::vector<TreeEntry> entries;
  const auto add = [&entries](std::string name, uint64_t number, mode_t mode) {
    TreeEntry& entry = entries.emplace_back();
    entry.name = std::move(name);
    entry.attributes.st_ino = number;
    entry.attributes.st_mode = mode;
  };
  add(".", inode, kFolderMode);
  add("..", inode == kRootInode ? inode : InodeOf(std::string(ParentOf(path))), kFolderMode);
  if (inode == kRootInode) {
    add(options_.volume_name, kVolumeInode, S_IFREG);
  }
  if (control_ != nullptr) {
    MDVOL_ASSIGN_OR_RETURN(std::vector<ControlEntry> found, control_->List(path));
    for (ControlEntry& entry : found) {
      const uint64_t number = InodeOf(Join(path, entry.name));
      add(std::move(entry.name), number, ModeOf(entry));
    }
  }
  return entries;
}

absl::StatusOr<std::string> Tree::PathOf(uint64_t inode) const {
  if (inode == kRootInode) {
    return std::string();
  }
  absl::MutexLock lock(&mutex_);
  if (inode < kFirstControlInode || inode - kFirstControlInode >= paths_.size()) {
    return ErrnoStatus(ENOENT, "inode " + std::to_string(inode) + " is not of this mount");
  }
  return paths_[inode - kFirstControlInode];
}

uint64_t Tree::InodeOf(const std::string& path) {
  if (path.empty()) {
    return kRootInode;
  }
  absl::MutexLock lock(&mutex_);
  const auto [position, is_new] = inodes_.try_emplace(path, kFirstControlInode + paths_.size());
  if (is_new) {
    paths_.push_back(path);
  }
  return position->second;
}

struct stat Tree::AttributesOf(uint64_t inode, const ControlEntry& entry) const {
  struct stat attributes {};
  attributes.st_ino = inode;
  attributes.st_mode = ModeOf(entry);
  attributes.st_nlink = entry.kind == ControlKind::kFolder ? 2 : 1;
  attributes.st_uid = options_.uid;
  attributes.st_gid = options_.gid;
  attributes.st_blksize = 4096;
  attributes.st_mtim.tv_sec = static_cast<time_t>(started_us_ / 1'000'000);
  attributes.st_ctim = attributes.st_mtim;
  attributes.st_atim = attributes.st_mtim;
  return attributes;
}

struct stat Tree::VolumeAttributes() const {
  struct stat attributes = volume_.Attributes();
  attributes.st_ino = kVolumeInode;
  return attributes;
}

}  // namespace mdvol
