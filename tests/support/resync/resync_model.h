// ResyncModel: a resync beside users of the volume, in modelled time: members are DiskModels, users
// are closed loops of random reads, the resync does what a pacing policy says, and nothing else
// takes time. What comes out is what the policy and the disks alone make of it: exact, the same
// every time, a second in a few milliseconds. It is what measured numbers are held against, and
// tells the policy's doing from the machine's.
//
// The engine is copied as far as it matters: windows of whole stripes, kMostResyncWindows and two
// mebibytes in flight, asked again after a wait, at least ten times a second, and when fewer
// windows are in flight than the policy waits for. A value; one thread.

#ifndef MDVOL_TESTS_SUPPORT_RESYNC_RESYNC_MODEL_H_
#define MDVOL_TESTS_SUPPORT_RESYNC_RESYNC_MODEL_H_

#include <cstdint>
#include <deque>
#include <queue>
#include <vector>

#include "core/device/disk_model.h"
#include "core/policy/resync_pacing.h"

namespace mdvol::testing {

struct ResyncModelSpec {
  DiskModelParameters disk;
  uint32_t members = 4;
  uint64_t member_bytes = uint64_t{64} << 30;
  uint64_t stripe_bytes = 64 << 10;  // of each member
  uint32_t jobs = 1;                 // users, one request each
  uint64_t request_bytes = 4096;
  uint64_t think_ns = 0;       // between a user's requests
  uint64_t window_cpu_ns = 0;  // after a window's I/O, before it has ended
  uint64_t speed_min = uint64_t{1000} << 10;
  uint64_t speed_max = uint64_t{1} << 40;
  uint64_t seed = 1;
};

class ResyncModel {
 public:
  // No policy: users alone.
  ResyncModel(const ResyncModelSpec& spec, ResyncPacing* policy);

  void SetJobs(uint32_t jobs);  // users come and go, at the end of their requests
  void SetSpeedMax(uint64_t bytes) { facts_.speed_max = bytes; }
  void Run(uint64_t ns);

  struct Counts {
    uint64_t at_ns = 0;
    uint64_t requests = 0;
    uint64_t latency_ns = 0;
    uint64_t sync_bytes = 0;  // of each member, done
  };
  // Since the beginning.
  Counts counts() const;
  // Every request that has ended, since the last call.
  std::vector<uint64_t> TakeLatencies();
  // Every window that has ended since the last call: when.
  std::vector<uint64_t> TakeWindowEnds();
  // The fewest windows in flight after any ended, since the last call; before the next could go.
  uint64_t TakeLeastInFlight();
  uint64_t most_in_flight_bytes() const { return most_in_flight_bytes_; }

 private:
  enum class Kind : uint8_t { kRequest, kThought, kWindow, kAsk };
  struct Event {
    uint64_t at_ns;
    uint64_t number;  // earlier ones first, among equals
    Kind kind;
    uint64_t begun_ns;
    uint64_t epoch;
    size_t member;
    bool operator>(const Event& other) const {
      return at_ns != other.at_ns ? at_ns > other.at_ns : number > other.number;
    }
  };

  void Push(uint64_t at_ns, Kind kind, uint64_t begun_ns = 0, size_t member = 0);
  uint64_t Random();
  void Read();
  void EndRequest(const Event& event);
  void EndWindow(const Event& event);
  void Ask();
  bool HasRoom() const;
  void Issue(uint64_t bytes);

  const ResyncModelSpec spec_;
  ResyncPacing* const policy_;
  std::vector<DiskModel> disks_;
  std::vector<ResyncMemberFacts> members_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  uint64_t events_made_ = 0;
  uint64_t random_;
  uint64_t now_ns_ = 1'000'000'000;
  uint32_t jobs_wanted_ = 0;
  uint32_t jobs_ = 0;

  ResyncFacts facts_;
  std::deque<uint64_t> window_bytes_;                // in flight, in the order of their beginnings
  std::deque<std::pair<uint64_t, uint64_t>> marks_;  // when, done
  uint64_t position_bytes_ = 0;
  uint64_t epoch_ = 0;
  uint64_t ask_number_ = 0;  // of the event that counts; others are of waits that ended early
  uint64_t wait_for_fewer_ = 0;

  uint64_t requests_ = 0;
  uint64_t latency_ns_ = 0;
  std::vector<uint64_t> latencies_;
  std::vector<uint64_t> window_ends_;
  uint64_t least_in_flight_ = ~uint64_t{0};
  uint64_t most_in_flight_bytes_ = 0;
};

}  // namespace mdvol::testing

#endif  // MDVOL_TESTS_SUPPORT_RESYNC_RESYNC_MODEL_H_
