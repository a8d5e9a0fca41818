// HookDevice: a decorator that lets a test look at each request on its way to a member, or hold it
// up. The hook runs in the thread that submits, before the request goes on.

#ifndef MDVOL_TESTS_SUPPORT_STRIPES_HOOK_DEVICE_H_
#define MDVOL_TESTS_SUPPORT_STRIPES_HOOK_DEVICE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "core/device/member_device.h"

namespace mdvol::testing {

class HookDevice final : public MemberDevice {
 public:
  using Hook = std::function<void(const IoRequest&)>;

  explicit HookDevice(std::unique_ptr<MemberDevice> inner) : inner_(std::move(inner)) {}

  // Not while requests are under way.
  void set_hook(Hook hook) { hook_ = std::move(hook); }

  const std::string& path() const override { return inner_->path(); }
  uint64_t size_bytes() const override { return inner_->size_bytes(); }
  uint32_t alignment_bytes() const override { return inner_->alignment_bytes(); }
  bool read_only() const override { return inner_->read_only(); }

  void Submit(IoRequest& request) override {
    if (hook_) {
      hook_(request);
    }
    inner_->Submit(request);
  }
  void Wait(IoRequest& request) override { inner_->Wait(request); }
  absl::StatusOr<uint64_t> NextData(uint64_t offset_bytes) override {
    return inner_->NextData(offset_bytes);
  }
  absl::StatusOr<uint64_t> NextHole(uint64_t offset_bytes) override {
    return inner_->NextHole(offset_bytes);
  }

 private:
  const std::unique_ptr<MemberDevice> inner_;
  Hook hook_;
};

}  // namespace mdvol::testing

#endif  // MDVOL_TESTS_SUPPORT_STRIPES_HOOK_DEVICE_H_
