// AdmissionDevice: a decorator that lets on to its member only so many writes at once as an
// AdmissionJudge says, and joins those that wait with their neighbours, whoever they belong to.
//
//   write, zeroing   passes at once while there is room and nobody waits: two atomic additions.
//                    Otherwise it waits in the AdmissionQueue.
//   read             passes at once and is watched, if a reader waits for it (ReaderWatch)
//   flush            passes at once: it is for what has ended before, not for what waits
//   metadata         whatever lies outside the data area passes at once, uncounted: it is small,
//   and
//                    user writes wait for it. So nothing that a write waits for here waits here
//                    too.
//
// Served by its callers (admission_thread.h): Wait of a write that has not gone takes runs from the
// queue while there is room, submits them to the member, waits for them and answers for all their
// parts. When a joined request fails its parts are tried one by one, so that an error is pinned to
// the caller whose write caused it. Waiting writes do not count as submitted to the member: a later
// flush covers those that have ended, as MemberDevice says.
//
// The device is its own CountingDevice: it stands above one, which counts what has been joined, and
// takes from SetRange where the data area is. Until then everything passes. Outermost, and once, in
// a stack. Thread-safe.

#ifndef MDVOL_CORE_DEVICE_ADMISSION_DEVICE_H_
#define MDVOL_CORE_DEVICE_ADMISSION_DEVICE_H_

#include <cstddef>
#include <memory>

#include "core/base/clock.h"
#include "core/device/admission_judge.h"
#include "core/device/counting_device.h"

namespace mdvol {

class AdmissionDevice : public CountingDevice {
 public:
  // Writes that wait, of all callers, at this moment.
  virtual size_t WaitingWrites() const = 0;
};

std::unique_ptr<AdmissionDevice> NewAdmissionDevice(std::unique_ptr<CountingDevice> inner,
                                                    std::unique_ptr<AdmissionJudge> judge,
                                                    Clock& clock);

}  // namespace mdvol

#endif  // MDVOL_CORE_DEVICE_ADMISSION_DEVICE_H_
