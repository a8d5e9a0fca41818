// mdvol_null_volume SIZE MOUNTPOINT [--foreground]: the mount of mdvol over a volume that lives in
// memory. What it reaches is what FUSE and our front end leave to the engine; benchmarks report it
// beside the engine's numbers. Ends like mdvol: by an unmount or a signal.

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "core/array/volume.h"
#include "core/base/clock.h"
#include "core/base/status.h"
#include "core/base/units.h"
#include "fuse/daemon.h"
#include "fuse/mountpoint.h"
#include "fuse/session.h"
#include "fuse/tree.h"
#include "fuse/volume_file.h"

namespace mdvol {
namespace {

// All bytes in one anonymous mapping, which is as sparse as what was written.
class MemoryVolume final : public Volume {
 public:
  explicit MemoryVolume(uint64_t size_bytes)
      : bytes_(static_cast<std::byte*>(::mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE,
                                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))),
        size_bytes_(size_bytes) {}
  ~MemoryVolume() override { ::munmap(bytes_, size_bytes_); }

  bool valid() const { return bytes_ != MAP_FAILED; }
  uint64_t volume_bytes() const override { return size_bytes_; }
  bool read_only() const override { return false; }
  absl::Status Read(uint64_t offset_bytes, std::span<std::byte> out) override {
    std::memcpy(out.data(), bytes_ + offset_bytes, out.size());
    return absl::OkStatus();
  }
  absl::Status Write(uint64_t offset_bytes, std::span<const std::byte> data) override {
    std::memcpy(bytes_ + offset_bytes, data.data(), data.size());
    return absl::OkStatus();
  }
  absl::Status Zero(uint64_t offset_bytes, uint64_t length_bytes) override {
    std::memset(bytes_ + offset_bytes, 0, length_bytes);
    return absl::OkStatus();
  }
  absl::Status Flush() override { return absl::OkStatus(); }
  absl::StatusOr<uint64_t> NextData(uint64_t offset_bytes) override { return offset_bytes; }
  absl::StatusOr<uint64_t> NextHole(uint64_t) override { return size_bytes_; }

 private:
  std::byte* const bytes_;
  const uint64_t size_bytes_;
};

absl::Status Serve(uint64_t size_bytes, const std::string& mountpoint,
                   const ReportReady& report_ready) {
  BlockStopSignals();
  MemoryVolume volume(size_bytes);
  if (!volume.valid()) {
    return SystemError(errno, "memory for the volume");
  }
  const VolumeFileOptions owner{::geteuid(), ::getegid(), 0600};
  VolumeFile file(volume, owner, SystemClock());
  Tree tree({"volume", owner.uid, owner.gid}, file, nullptr, SystemClock());
  MDVOL_ASSIGN_OR_RETURN(const auto session, Session::Mount({mountpoint, "null", {}}, tree));
  MDVOL_RETURN_IF_ERROR(report_ready());
  session->Run();
  return absl::OkStatus();
}

absl::Status Run(const std::string& size, const std::string& mountpoint, bool foreground) {
  MDVOL_ASSIGN_OR_RETURN(const uint64_t size_bytes, ParseSize(size, 1));
  if (size_bytes == 0) {
    return UsageError("SIZE: must be more than 0");
  }
  MDVOL_ASSIGN_OR_RETURN(const std::string path, PrepareMountpoint(mountpoint));
  const DaemonWork work = [&](const ReportReady& report_ready) {
    return Serve(size_bytes, path, report_ready);
  };
  return foreground ? RunInForeground(work) : RunInBackground(work);
}

}  // namespace
}  // namespace mdvol

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() < 2 || (words.size() == 3 && words[2] != "--foreground") || words.size() > 3) {
    std::fprintf(stderr, "usage: mdvol_null_volume SIZE MOUNTPOINT [--foreground]\n");
    return 2;
  }
  const absl::Status status = mdvol::Run(words[0], words[1], words.size() == 3);
  if (!status.ok()) {
    std::fprintf(stderr, "mdvol_null_volume: %s\n", mdvol::MessageOf(status).c_str());
    return 1;
  }
  return 0;
}
