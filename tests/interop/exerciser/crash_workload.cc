// The part of workload.h that ends with the daemon's death.

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <optional>
#include <thread>
#include <vector>

#include "core/base/aligned_buffer.h"
#include "core/base/status.h"
#include "tests/interop/exerciser/request.h"
#include "tests/interop/exerciser/workload.h"
#include "tests/support/seed.h"

namespace mdvol::testing {
namespace {

// Writes of one thread between two fsyncs.
constexpr int kWritesPerEpoch = 12;
constexpr int kTriesPerWrite = 16;
constexpr int kTriesToFindItDead = 60;

// What system calls on a mount answer when the process behind it has died.
bool IsDaemonDeath(const absl::Status& status) {
  const int error = ErrnoOf(status);
  return error == ENOTCONN || error == ECONNABORTED || error == ECONNRESET;
}

// A request that the daemon was just taking over when it was killed is answered with EIO (in
// Linux's fs/fuse/dev.c, fuse_dev_do_read(): the copy into the dying process fails). It is the
// daemon's death only if the daemon is soon found dead; a daemon that lives and says EIO is at
// fault.
bool IsDaemonDeath(const absl::Status& status, const VolumeFile& volume) {
  if (ErrnoOf(status) != EIO) return IsDaemonDeath(status);
  AlignedBuffer buffer(4096);
  for (int tries = 0; tries < kTriesToFindItDead; ++tries) {
    if (IsDaemonDeath(volume.Read(0, buffer.span(), /*direct=*/true))) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return false;
}

// A range that nobody has written since the last fsync; nothing if none turns up.
std::optional<Extent> DrawFreshExtent(Prng& prng, const WorkloadOptions& options,
                                      const Extent& bounds, RangeLock& written) {
  for (int tries = 0; tries < kTriesPerWrite; ++tries) {
    const Extent extent = DrawExtent(prng, options.chunk_bytes, options.stripe_bytes, bounds);
    if (written.TryLock(extent)) return extent;
  }
  return std::nullopt;
}

absl::Status WriteEpoch(const VolumeFile& volume, const Shadow& latest,
                        const WorkloadOptions& options, Prng& prng, RangeLock& written) {
  AlignedBuffer buffer(LongestRequestBytes(options.stripe_bytes));
  const Extent bounds = BoundsOf(options, volume.size_bytes());
  for (int i = 0; i < kWritesPerEpoch; ++i) {
    const auto extent = DrawFreshExtent(prng, options, bounds, written);
    if (!extent) break;
    const std::span<std::byte> data = buffer.span().first(extent->length_bytes);
    prng.Fill(data);
    // Before the write: from here on the volume may hold these bytes.
    std::memcpy(latest.at(extent->offset_bytes), data.data(), data.size());
    const bool direct = options.access == AccessMode::kDirect ||
                        (options.access == AccessMode::kMixed && prng.OneIn(2));
    MDVOL_RETURN_IF_ERROR(volume.Write(extent->offset_bytes, data, direct));
  }
  return absl::OkStatus();
}

// All threads' writes of one epoch, then the fsync.
absl::Status RunEpoch(const VolumeFile& volume, const Shadow& latest,
                      const WorkloadOptions& options, std::vector<Prng>& prngs,
                      RangeLock& written) {
  std::vector<absl::Status> results(prngs.size());
  std::vector<std::thread> threads;
  for (size_t job = 0; job < prngs.size(); ++job) {
    threads.emplace_back(
        [&, job] { results[job] = WriteEpoch(volume, latest, options, prngs[job], written); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const absl::Status& result : results) MDVOL_RETURN_IF_ERROR(result);
  return volume.Sync();
}

bool Covers(std::span<const Extent> extents, uint64_t offset_bytes) {
  return std::any_of(extents.begin(), extents.end(), [offset_bytes](const Extent& extent) {
    return offset_bytes >= extent.offset_bytes &&
           offset_bytes - extent.offset_bytes < extent.length_bytes;
  });
}

}  // namespace

absl::Status RunUntilDaemonDies(const VolumeFile& volume, const Shadow& durable,
                                const Shadow& latest, const std::string& progress_path,
                                const WorkloadOptions& options) {
  std::vector<Prng> prngs;
  for (uint32_t job = 0; job < options.jobs; ++job) prngs.emplace_back(options.seed + job);
  std::ofstream progress(progress_path, std::ios::app);
  RangeLock written(options.access == AccessMode::kMixed ? 4096 : 1);
  for (uint64_t epoch = 0;; ++epoch) {
    const absl::Status status = RunEpoch(volume, latest, options, prngs, written);
    if (!status.ok()) {
      if (!IsDaemonDeath(status, volume)) return status;
      if (epoch == 0) return Annotate(status, "the daemon died before the first fsync");
      return absl::OkStatus();
    }
    for (const Extent& extent : written.TakeAll()) {
      std::memcpy(durable.at(extent.offset_bytes), latest.at(extent.offset_bytes),
                  extent.length_bytes);
    }
    progress << "fsync " << epoch << std::endl;
  }
}

absl::Status VerifyAfterCrash(const VolumeFile& volume, const Shadow& durable, const Shadow& latest,
                              std::span<const Extent> exempt) {
  constexpr uint64_t kPieceBytes = uint64_t{1} << 20;
  AlignedBuffer buffer(kPieceBytes);
  for (uint64_t offset_bytes = 0; offset_bytes < volume.size_bytes(); offset_bytes += kPieceBytes) {
    const uint64_t length_bytes = std::min(kPieceBytes, volume.size_bytes() - offset_bytes);
    const std::span<std::byte> found = buffer.span().first(length_bytes);
    MDVOL_RETURN_IF_ERROR(volume.Read(offset_bytes, found, false));
    for (uint64_t i = 0; i < length_bytes; ++i) {
      if (found[i] != *durable.at(offset_bytes + i) && found[i] != *latest.at(offset_bytes + i) &&
          !Covers(exempt, offset_bytes + i)) {
        return ErrnoStatus(EIO, "volume offset " + std::to_string(offset_bytes + i) +
                                    " holds neither what was synced nor what was written last");
      }
    }
    std::memcpy(durable.at(offset_bytes), found.data(), length_bytes);
    std::memcpy(latest.at(offset_bytes), found.data(), length_bytes);
  }
  return absl::OkStatus();
}

}  // namespace mdvol::testing
