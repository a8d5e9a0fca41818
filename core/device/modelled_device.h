// ModelledDevice: a decorator that makes a member as slow as a DiskModel says, so that policies can
// be measured on disks which are not there. What the member below it does is done at once, in
// Submit, and its time is part of the model's; Wait returns when the model's request has ended, or
// later where the member below takes longer than the model, or the machine is late to wake us
// (core/base/precise_sleep.h says by how much).
//
// Measured on two virtual cores under a load of 16, medians against the predictions of
// disk_model.h: 4 KiB at random and 1 MiB streams, alone and four deep, on the ssd and hdd presets:
// 0.99 to 1.02; nvme, 4 KiB: 1.01. A caller that waits for a core loses what any caller would lose
// there.
//
// Every request is charged, metadata and requests that fail too; the search for holes is not. The
// order in which threads are admitted is the order of their Submits. A batch over several members
// is admitted member by member, each later by the time the ones before it needed for their real
// work: with images in memory some microseconds, or a few percent of the modelled time for large
// requests.
//
// Thread-safe: the model is behind a lock that is held for its arithmetic alone. It stands
// innermost in a stack, on the member itself: what faults keep from the member is not charged,
// faulty delays count from the Submit and the later end holds, and a counting device above sees
// modelled times.

#ifndef MDVOL_CORE_DEVICE_MODELLED_DEVICE_H_
#define MDVOL_CORE_DEVICE_MODELLED_DEVICE_H_

#include <memory>

#include "core/base/clock.h"
#include "core/device/disk_model.h"
#include "core/device/member_device.h"

namespace mdvol {

std::unique_ptr<MemberDevice> NewModelledDevice(std::unique_ptr<MemberDevice> inner,
                                                const DiskModelParameters& parameters,
                                                Clock& clock);

}  // namespace mdvol

#endif  // MDVOL_CORE_DEVICE_MODELLED_DEVICE_H_
