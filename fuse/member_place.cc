// See member_place.h. sysfs: Documentation/ABI/stable/sysfs-block and testing/sysfs-block-dm of the
// kernel (/sys/dev/block/MAJOR:MINOR, its `slaves`, `partition`, and `loop/backing_file`).

#include "fuse/member_place.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <set>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"

namespace mdvol {
namespace {

// As many as the kernel follows.
constexpr int kMostLinks = 40;

std::string Join(const std::string& folder, const std::string& name) {
  std::string path = folder;
  path += path == "/" ? "" : "/";
  return path += name;
}

std::string FirstLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// Each path, mount and device is looked at once: a FUSE file system may well name itself as its
// source.
class PlaceSearch {
 public:
  explicit PlaceSearch(const PlaceFacts& facts) : facts_(facts) {}

  std::string UnderPath(const std::string& path) {
    std::error_code error;
    const std::filesystem::path absolute = std::filesystem::absolute(path, error);
    if (error || !seen_.insert(absolute.string()).second) {
      return "";
    }
    std::string end;
    if (std::string found = UnderWay(absolute.string(), end); !found.empty()) {
      return found;
    }
    const MountInfo* const mount = MountOf(end);
    if (std::string found = mount == nullptr ? "" : UnderMount(*mount); !found.empty()) {
      return found;
    }
    return UnderFile(path);
  }

 private:
  // Follows the path as the kernel does, and looks at every mount before anything in it is touched.
  // Its end, without links, goes to `end`.
  std::string UnderWay(const std::string& path, std::string& end) {
    std::vector<std::string> rest;  // the next component last
    Push(path, rest);
    end.assign(1, '/');
    for (int links = 0; !rest.empty();) {
      const std::string component = std::move(rest.back());
      rest.pop_back();
      if (component == "..") {
        end = end.substr(0, std::max<size_t>(end.rfind('/'), 1));
        continue;
      }
      const std::string next = Join(end, component);
      if (const MountInfo* const mount = MountAt(next); mount != nullptr) {
        if (std::string found = UnderMount(*mount); !found.empty()) {
          return found;
        }
        end = next;
        continue;
      }
      std::error_code error;
      const std::string target = std::filesystem::read_symlink(next, error).string();
      if (error) {
        end = next;  // No link, or nothing there (yet).
        continue;
      }
      if (++links > kMostLinks) {
        return "";  // Opening it says so.
      }
      if (target.starts_with('/')) {
        end.assign(1, '/');
      }
      Push(target, rest);
    }
    return "";
  }

  static void Push(const std::string& path, std::vector<std::string>& rest) {
    std::vector<std::string> components;
    for (const std::filesystem::path& component : std::filesystem::path(path)) {
      if (!component.empty() && component != "." && component != "/") {
        components.push_back(component.string());
      }
    }
    rest.insert(rest.end(), components.rbegin(), components.rend());
  }

  const MountInfo* MountAt(const std::string& path) const {
    const auto found =
        std::find_if(facts_.mounts.rbegin(), facts_.mounts.rend(),
                     [&path](const MountInfo& mount) { return mount.mountpoint == path; });
    return found == facts_.mounts.rend() ? nullptr : &*found;
  }

  // The mount in which a path without links lies.
  const MountInfo* MountOf(std::string path) const {
    while (path.size() > 1) {
      if (const MountInfo* const mount = MountAt(path); mount != nullptr) {
        return mount;
      }
      path = path.substr(0, std::max<size_t>(path.rfind('/'), 1));
    }
    return MountAt("/");
  }

  std::string UnderMount(const MountInfo& mount) {
    if (mount.type == kMountType) {
      return mount.mountpoint;
    }
    if (!seen_mounts_.insert(&mount).second) {
      return "";
    }
    if (std::string found = UnderDevice(mount.device); !found.empty()) {
      return found;
    }
    // File systems whose files have device numbers of their own (btrfs), and FUSE ones on an image.
    return mount.source.starts_with('/') && mount.source != "/" ? UnderPath(mount.source) : "";
  }

  std::string UnderFile(const std::string& path) {
    struct stat attributes = {};
    if (::stat(path.c_str(), &attributes) != 0) {
      return "";
    }
    if (S_ISBLK(attributes.st_mode)) {
      return UnderDevice(attributes.st_rdev);
    }
    for (const MountInfo& mount : facts_.mounts) {
      if (mount.type == kMountType && mount.device == attributes.st_dev) {
        return mount.mountpoint;
      }
    }
    return UnderDevice(attributes.st_dev);
  }

  std::string UnderDevice(dev_t device) {
    return UnderDevice(absl::StrCat(major(device), ":", minor(device)));
  }

  // `numbers` is "7:0"; nothing where that is no block device.
  std::string UnderDevice(const std::string& numbers) {
    const std::string folder = facts_.sys + "/dev/block/" + numbers;
    std::error_code error;
    if (!std::filesystem::exists(folder, error) || !seen_.insert(numbers).second) {
      return "";
    }
    if (const std::string backing = FirstLine(folder + "/loop/backing_file"); !backing.empty()) {
      return UnderPath(backing);
    }
    if (std::filesystem::exists(folder + "/partition", error)) {
      return UnderDevice(FirstLine(folder + "/../dev"));
    }
    for (std::filesystem::directory_iterator slave(folder + "/slaves", error), end;
         !error && slave != end; slave.increment(error)) {
      if (std::string found = UnderDevice(FirstLine(slave->path() / "dev")); !found.empty()) {
        return found;
      }
    }
    return "";
  }

  const PlaceFacts& facts_;
  std::set<std::string> seen_;  // absolute paths, and devices as "7:0"
  std::set<const MountInfo*> seen_mounts_;
};

}  // namespace

std::string FindMountUnder(const std::string& path, const PlaceFacts& facts) {
  return path.empty() ? "" : PlaceSearch(facts).UnderPath(path);
}

absl::Status CheckMemberPlace(const std::string& path) {
  absl::StatusOr<std::vector<MountInfo>> mounts = ListMounts();
  if (!mounts.ok()) {
    return absl::OkStatus();  // Without /proc nobody can tell.
  }
  const std::string mountpoint = FindMountUnder(path, {*std::move(mounts)});
  return mountpoint.empty()
             ? absl::OkStatus()
             : ErrnoStatus(EINVAL, path + ": lies on the volume or in the mount of an array, " +
                                       mountpoint +
                                       ", and would wait for it: keep members elsewhere");
}

}  // namespace mdvol
