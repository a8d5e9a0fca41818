// CountingDevice: a decorator that counts the requests which reach a member inside one range (the
// data area), for MNT/iostat. Counters are relaxed atomics: cheap, each exact, together a snapshot
// only when nothing is in flight. At most one in a stack (it alone uses IoRequest::started_ns).

#ifndef MDVOL_CORE_DEVICE_COUNTING_DEVICE_H_
#define MDVOL_CORE_DEVICE_COUNTING_DEVICE_H_

#include <cstdint>
#include <memory>

#include "core/base/clock.h"
#include "core/device/member_device.h"

namespace mdvol {

struct IoCounts {
  uint64_t requests = 0;
  uint64_t bytes = 0;
  uint64_t merged = 0;   // pieces beyond the first of each request
  uint64_t busy_ns = 0;  // from Submit to the end of Wait, summed
};

struct MemberIoCounts {
  IoCounts reads;
  IoCounts writes;  // kZero counts as a write
  uint64_t flushes = 0;
  uint64_t errors = 0;
  uint64_t sync_issued_bytes = 0;  // inside a SyncIoScope, as they were submitted
};

class CountingDevice : public MemberDevice {
 public:
  virtual MemberIoCounts Counts() const = 0;
  // Requests that start inside [begin, end) are counted, whether they fail or not; flushes and
  // errors always are. At first all requests are.
  virtual void SetRange(uint64_t begin_bytes, uint64_t end_bytes) = 0;
};

std::unique_ptr<CountingDevice> NewCountingDevice(std::unique_ptr<MemberDevice> inner,
                                                  Clock& clock);

}  // namespace mdvol

#endif  // MDVOL_CORE_DEVICE_COUNTING_DEVICE_H_
