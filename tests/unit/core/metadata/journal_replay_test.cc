// Replay against a model that looks at the whole log at once.

#include "core/metadata/journal_replay.h"

#include <cstring>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/base/units.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/seed.h"

namespace mdvol {
namespace {

using ::mdvol::testing::Prng;
using ::mdvol::testing::TestSeed;
using ::testing::ElementsAre;
using Kind = JournalPayload::Kind;

ArrayGeometry SixDisks(Layout layout = Layout::kLeftSymmetric) {
  return ArrayGeometry::Make(layout, 6, 16 * kKiB, 128 * kKiB).value();
}

// Pages are told apart by their first eight bytes.
struct Record {
  JournalEntry entry;
  std::vector<std::byte> pages;

  Record& Data(uint64_t volume_bytes, uint64_t id) {
    Add({.kind = Kind::kData, .location_bytes = volume_bytes}, {id});
    return *this;
  }
  Record& Parity(uint64_t member_bytes, uint64_t p, uint64_t q) {
    Add({.kind = Kind::kParity, .location_bytes = member_bytes}, {p, q});
    return *this;
  }
  Record& Flush(std::vector<uint64_t> lanes) {
    Add({.kind = Kind::kFlush, .flushed_bytes = std::move(lanes)}, {});
    return *this;
  }
  void Add(JournalPayload payload, std::vector<uint64_t> ids) {
    payload.first_page = entry.pages;
    entry.payloads.push_back(std::move(payload));
    for (const uint64_t id : ids) {
      ++entry.pages;
      pages.resize(entry.pages * kJournalBlockBytes, static_cast<std::byte>(id));
      std::memcpy(pages.data() + pages.size() - kJournalBlockBytes, &id, sizeof(id));
    }
  }
  uint64_t Id(const JournalPayload& payload, uint32_t n = 0) const {
    uint64_t id;
    std::memcpy(&id, pages.data() + (payload.first_page + n) * kJournalBlockBytes, sizeof(id));
    return id;
  }
};

uint64_t IdOf(const std::byte* page) {
  uint64_t id;
  std::memcpy(&id, page, sizeof(id));
  EXPECT_EQ(page[kJournalBlockBytes - 1], static_cast<std::byte>(id)) << "not the whole page";
  return id;
}

struct Write {
  uint64_t member_bytes;
  uint32_t slot;
  uint64_t id;
  friend bool operator==(const Write&, const Write&) = default;
  friend void PrintTo(const Write& w, std::ostream* out) {
    *out << "{" << w.member_bytes << ", slot " << w.slot << ", page " << w.id << "}";
  }
};

// The record's pages are gone once its writes are made: nothing may point to them afterwards.
std::vector<Write> Take(JournalReplay& replay, const Record& record) {
  std::vector<std::byte> pages = record.pages;
  std::vector<Write> writes;
  for (const ReplayWrite& write : replay.Take(record.entry, pages)) {
    writes.push_back({write.member_bytes, write.slot, IdOf(write.bytes)});
  }
  pages.assign(pages.size(), std::byte{0xee});
  return writes;
}

// Left-symmetric, stripe 0 of six: data in slots 1..4, P in 5, Q in 0.
TEST(JournalReplayTest, ALaneIsWrittenWithItsParity) {
  JournalReplay replay(SixDisks());
  const uint64_t chunk = 16 * kKiB;
  EXPECT_THAT(
      Take(replay, Record().Data(0x1000, 1).Data(2 * chunk + 0x1000, 2).Parity(0x1000, 3, 4)),
      ElementsAre(Write{0x1000, 1, 1}, Write{0x1000, 3, 2}, Write{0x1000, 5, 3},
                  Write{0x1000, 0, 4}));
  EXPECT_EQ(replay.kept_bytes(), 0u);
  EXPECT_TRUE(replay.Rest().empty());
}

TEST(JournalReplayTest, ParityWithoutDataIsPassedOver) {
  JournalReplay replay(SixDisks());
  EXPECT_TRUE(Take(replay, Record().Parity(0, 1, 2)).empty());
  EXPECT_EQ(Take(replay, Record().Data(0, 3).Parity(0, 4, 5).Parity(0, 6, 7)).size(), 3u);
  EXPECT_TRUE(replay.Rest().empty());
}

TEST(JournalReplayTest, TwoRecordsOfALaneInOneBlockAreWrittenInOrder) {
  JournalReplay replay(SixDisks());
  EXPECT_THAT(Take(replay, Record().Data(0, 1).Parity(0, 2, 3).Data(0, 4).Parity(0, 5, 6)),
              ElementsAre(Write{0, 1, 1}, Write{0, 5, 2}, Write{0, 0, 3}, Write{0, 1, 4},
                          Write{0, 5, 5}, Write{0, 0, 6}));
}

TEST(JournalReplayTest, DataWaitsForParityAcrossRecords) {
  JournalReplay replay(SixDisks());
  const uint64_t chunk = 16 * kKiB;
  EXPECT_TRUE(Take(replay, Record().Data(0, 1).Data(chunk, 2)).empty());
  EXPECT_TRUE(Take(replay, Record().Data(chunk, 3)).empty());
  EXPECT_EQ(replay.kept_bytes(), 2 * kJournalBlockBytes);
  EXPECT_THAT(
      Take(replay, Record().Data(2 * chunk, 4).Data(0, 5).Parity(0, 6, 7)),
      ElementsAre(Write{0, 1, 5}, Write{0, 2, 3}, Write{0, 3, 4}, Write{0, 5, 6}, Write{0, 0, 7}));
  EXPECT_EQ(replay.kept_bytes(), 0u);
}

TEST(JournalReplayTest, AFlushEndsTheWaitOfItsLanesOnly) {
  JournalReplay replay(SixDisks());
  Take(replay, Record().Data(0, 1).Data(0x1000, 2).Data(0x2000, 3));
  EXPECT_TRUE(Take(replay, Record().Data(0x3000, 4).Flush({0, 0x2000, 0x3000})).empty());
  EXPECT_EQ(replay.kept_bytes(), kJournalBlockBytes);
  EXPECT_TRUE(Take(replay, Record().Parity(0, 5, 6).Parity(0x3000, 5, 6)).empty());
  const auto rest = replay.Rest();
  ASSERT_EQ(rest.size(), 1u);
  EXPECT_EQ(rest[0].member_bytes, 0x1000u);
  ASSERT_EQ(rest[0].pages.size(), 1u);
  EXPECT_EQ(IdOf(rest[0].pages.begin()->second->data()), 2u);
}

TEST(JournalReplayTest, TheRestIsInTheOrderOfTheLog) {
  JournalReplay replay(SixDisks());
  Take(replay, Record().Data(0x3000, 1).Data(0x1000, 2));
  Take(replay, Record().Data(0x2000, 3).Parity(0x2000, 4, 5).Data(0, 6).Data(0x2000, 7));
  Take(replay, Record().Data(0x3000, 8));
  std::vector<uint64_t> order;
  for (const auto& lane : replay.Rest()) order.push_back(lane.member_bytes);
  EXPECT_THAT(order, ElementsAre(0x3000, 0x1000, 0, 0x2000));
  EXPECT_EQ(replay.kept_bytes(), 0u);
  EXPECT_TRUE(replay.Rest().empty());
}

// ---- Against the model ----

struct Event {
  Kind kind;
  uint64_t lane;
  uint64_t volume_bytes = 0;  // data
  uint64_t ids[2] = {};
};

std::vector<Event> EventsOf(const std::vector<Record>& log, const ArrayGeometry& geometry) {
  std::vector<Event> events;
  for (const Record& record : log) {
    for (const JournalPayload& p : record.entry.payloads) {
      if (p.kind == Kind::kData) {
        events.push_back({p.kind,
                          geometry.Locate(p.location_bytes).data_offset_bytes,
                          p.location_bytes,
                          {record.Id(p)}});
      } else if (p.kind == Kind::kParity) {
        events.push_back({p.kind, p.location_bytes, 0, {record.Id(p), record.Id(p, 1)}});
      }
      for (const uint64_t lane : p.flushed_bytes) events.push_back({Kind::kFlush, lane});
    }
  }
  return events;
}

using Members = std::map<std::pair<uint32_t, uint64_t>, uint64_t>;  // slot, offset -> page

// The newest data of the lane behind its last parity or flush before `end`, by slot.
std::map<uint32_t, uint64_t> DataBefore(const std::vector<Event>& events, size_t end, uint64_t lane,
                                        const ArrayGeometry& geometry) {
  std::map<uint32_t, uint64_t> data;
  for (size_t i = end; i-- > 0;) {
    if (events[i].lane != lane) continue;
    if (events[i].kind != Kind::kData) break;
    for (uint32_t slot = 0; slot < geometry.raid_disks(); ++slot) {
      const MemberLocation at = geometry.LocateOnMember(slot, lane);
      if (at.role.kind == ChunkKind::kData && at.volume_offset_bytes == events[i].volume_bytes) {
        data.try_emplace(slot, events[i].ids[0]);
      }
    }
  }
  return data;
}

Members Model(const std::vector<Event>& events, const ArrayGeometry& geometry) {
  Members members;
  for (size_t i = 0; i < events.size(); ++i) {
    if (events[i].kind != Kind::kParity) continue;
    const auto data = DataBefore(events, i, events[i].lane, geometry);
    if (data.empty()) continue;
    for (const auto& [slot, id] : data) members[{slot, events[i].lane}] = id;
    for (uint32_t slot = 0; slot < geometry.raid_disks(); ++slot) {
      const ChunkKind kind = geometry.LocateOnMember(slot, events[i].lane).role.kind;
      if (kind != ChunkKind::kData) {
        members[{slot, events[i].lane}] = events[i].ids[kind == ChunkKind::kP ? 0 : 1];
      }
    }
  }
  return members;
}

std::vector<Record> RandomLog(Prng& prng, const ArrayGeometry& geometry) {
  std::vector<Record> log(prng.Between(1, 30));
  const uint64_t lanes = prng.Between(1, 6);  // few, so that they meet
  const uint64_t step = geometry.component_bytes() / kLaneBytes / lanes;
  uint64_t id = 1;
  for (Record& record : log) {
    for (uint64_t n = prng.Between(0, 8); n > 0; --n) {
      const uint64_t lane = prng.Below(lanes) * step * kLaneBytes;
      const uint64_t kind = prng.Below(8);
      if (kind == 0) {
        record.Flush({lane, prng.Below(lanes) * step * kLaneBytes});
      } else if (kind < 3) {
        record.Parity(lane, id, id + 1);
        id += 2;
      } else {
        MemberLocation at;
        do {
          at = geometry.LocateOnMember(static_cast<uint32_t>(prng.Below(6)), lane);
        } while (at.role.kind != ChunkKind::kData);
        record.Data(at.volume_offset_bytes, id++);
      }
    }
  }
  return log;
}

void ExpectRest(std::vector<JournalReplay::DataOnlyLane> rest, const std::vector<Event>& events,
                const ArrayGeometry& geometry) {
  std::set<uint64_t> waiting;
  for (const auto& lane : rest) {
    waiting.insert(lane.member_bytes);
    std::map<uint32_t, uint64_t> pages;
    for (const auto& [slot, page] : lane.pages) pages[slot] = IdOf(page->data());
    EXPECT_EQ(pages, DataBefore(events, events.size(), lane.member_bytes, geometry));
  }
  EXPECT_EQ(waiting.size(), rest.size());
  for (const Event& event : events) {
    EXPECT_EQ(waiting.contains(event.lane),
              !DataBefore(events, events.size(), event.lane, geometry).empty());
  }
}

TEST(JournalReplayTest, AnyInterleavingEndsAsTheModelSays) {
  Prng prng(TestSeed("JournalReplayTest.AnyInterleavingEndsAsTheModelSays"));
  for (int round = 0; round < 1500 && !HasFailure(); ++round) {
    const auto layouts = AllLayouts();
    const ArrayGeometry geometry = SixDisks(layouts[prng.Below(layouts.size())]);
    const std::vector<Record> log = RandomLog(prng, geometry);
    const std::vector<Event> events = EventsOf(log, geometry);
    JournalReplay replay(geometry);
    Members members;
    for (const Record& record : log) {
      for (const Write& w : Take(replay, record)) members[{w.slot, w.member_bytes}] = w.id;
    }
    EXPECT_EQ(members, Model(events, geometry)) << "round " << round;
    const uint64_t kept_bytes = replay.kept_bytes();
    auto rest = replay.Rest();
    uint64_t pages = 0;
    for (const auto& lane : rest) pages += lane.pages.size();
    EXPECT_EQ(kept_bytes, pages * kJournalBlockBytes);
    ExpectRest(std::move(rest), events, geometry);
  }
}

}  // namespace
}  // namespace mdvol
