// Short ways to make requests, and a device that writes down what reaches it.

#ifndef MDVOL_TESTS_UNIT_CORE_DEVICE_TEST_DEVICES_H_
#define MDVOL_TESTS_UNIT_CORE_DEVICE_TEST_DEVICES_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/device/member_device.h"

namespace mdvol::testing {

inline IoRequest RequestFor(IoKind kind, uint64_t offset_bytes, std::span<std::byte> data) {
  IoRequest request;
  request.kind = kind;
  request.offset_bytes = offset_bytes;
  request.length_bytes = data.size();
  request.buffers.push_back({data.data(), data.size()});
  return request;
}

inline IoRequest ZeroRequest(uint64_t offset_bytes, uint64_t length_bytes) {
  IoRequest request;
  request.kind = IoKind::kZero;
  request.offset_bytes = offset_bytes;
  request.length_bytes = length_bytes;
  return request;
}

inline IoRequest FlushRequest() {
  IoRequest request;
  request.kind = IoKind::kFlush;
  return request;
}

// Submits, waits, and returns the error.
inline int RunRequest(MemberDevice& device, IoRequest request) {
  device.Submit(request);
  device.Wait(request);
  return request.error;
}

inline int Read(MemberDevice& device, uint64_t offset_bytes, std::span<std::byte> data) {
  return RunRequest(device, RequestFor(IoKind::kRead, offset_bytes, data));
}
inline int Write(MemberDevice& device, uint64_t offset_bytes, std::span<std::byte> data) {
  return RunRequest(device, RequestFor(IoKind::kWrite, offset_bytes, data));
}
inline int Zero(MemberDevice& device, uint64_t offset_bytes, uint64_t length_bytes) {
  return RunRequest(device, ZeroRequest(offset_bytes, length_bytes));
}
inline int Flush(MemberDevice& device) { return RunRequest(device, FlushRequest()); }

// One call of a device.
struct LoggedCall {
  std::string device;
  char step;  // 'S'ubmit or 'W'ait
  IoKind kind;
  uint64_t offset_bytes;
  uint64_t length_bytes;
  size_t buffer_count;
  uint32_t pieces;

  friend bool operator==(const LoggedCall&, const LoggedCall&) = default;
  friend std::ostream& operator<<(std::ostream& out, const LoggedCall& call) {
    return out << call.device << ' ' << call.step << " kind " << static_cast<int>(call.kind)
               << " at " << call.offset_bytes << " length " << call.length_bytes << " buffers "
               << call.buffer_count << " pieces " << call.pieces;
  }
};

// Writes down each call in a log that several devices may share, and fails the requests for which
// `fails` returns an errno, without passing them on. One thread.
class LoggingDevice final : public MemberDevice {
 public:
  using Fails = std::function<int(const IoRequest&)>;

  LoggingDevice(std::unique_ptr<MemberDevice> inner, std::vector<LoggedCall>* log)
      : inner_(std::move(inner)), log_(log) {}

  void set_fails(Fails fails) { fails_ = std::move(fails); }

  const std::string& path() const override { return inner_->path(); }
  uint64_t size_bytes() const override { return inner_->size_bytes(); }
  uint32_t alignment_bytes() const override { return inner_->alignment_bytes(); }
  bool read_only() const override { return inner_->read_only(); }

  void Submit(IoRequest& request) override {
    Log('S', request);
    request.error = fails_ ? fails_(request) : 0;
    request.device_word = request.error != 0 ? 1 : 0;
    if (request.error == 0) {
      inner_->Submit(request);
    }
  }
  void Wait(IoRequest& request) override {
    Log('W', request);
    if (request.device_word == 0) {
      inner_->Wait(request);
    }
  }
  absl::StatusOr<uint64_t> NextData(uint64_t offset_bytes) override {
    return inner_->NextData(offset_bytes);
  }
  absl::StatusOr<uint64_t> NextHole(uint64_t offset_bytes) override {
    return inner_->NextHole(offset_bytes);
  }

 private:
  void Log(char step, const IoRequest& request) {
    log_->push_back({path(), step, request.kind, request.offset_bytes, request.length_bytes,
                     request.buffers.size(), request.pieces});
  }

  const std::unique_ptr<MemberDevice> inner_;
  std::vector<LoggedCall>* const log_;
  Fails fails_;
};

}  // namespace mdvol::testing

#endif  // MDVOL_TESTS_UNIT_CORE_DEVICE_TEST_DEVICES_H_
