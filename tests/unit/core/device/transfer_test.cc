// Short, interrupted, failing and split transfers, by a system call that follows a script.

#include "core/device/transfer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "tests/support/seed.h"

namespace mdvol {
namespace {

using testing::Prng;
using testing::TestSeed;

// A preadv over a string that does as a script says, call by call: >= 0 moves at most so many
// bytes, < 0 fails with that errno. Behind the script it moves all it can.
struct ScriptedRead {
  std::string file;
  std::vector<ssize_t> script;
  size_t calls = 0;
  int largest_count = 0;

  ssize_t operator()(const iovec* buffers, int count, uint64_t offset_bytes) {
    largest_count = std::max(largest_count, count);
    const ssize_t step = calls < script.size() ? script[calls] : INT_MAX;
    ++calls;
    if (step < 0) {
      errno = static_cast<int>(-step);
      return -1;
    }
    const size_t available = file.size() - std::min<size_t>(offset_bytes, file.size());
    size_t left = std::min<size_t>(static_cast<size_t>(step), available);
    const size_t moved_all = left;
    for (int i = 0; i < count && left > 0; ++i) {
      const size_t moved = std::min(left, buffers[i].iov_len);
      std::memcpy(buffers[i].iov_base, file.data() + offset_bytes, moved);
      offset_bytes += moved;
      left -= moved;
    }
    return static_cast<ssize_t>(moved_all - left);
  }
};

struct Outcome {
  int error;
  std::string bytes;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

std::ostream& operator<<(std::ostream& out, const Outcome& outcome) {
  return out << "error " << outcome.error << " bytes '" << outcome.bytes << "'";
}

// Reads into buffers of the given lengths from `offset_bytes` on.
Outcome ReadInto(const std::vector<size_t>& lengths, uint64_t offset_bytes, ScriptedRead& read) {
  size_t total = 0;
  for (const size_t length : lengths) {
    total += length;
  }
  std::string bytes(total, '.');
  std::vector<iovec> buffers;
  size_t position = 0;
  for (const size_t length : lengths) {
    buffers.push_back({bytes.data() + position, length});
    position += length;
  }
  const int error =
      TransferAll(buffers, offset_bytes, [&read](auto... args) { return read(args...); });
  return {error, bytes};
}

TEST(TransferTest, OneCallIsEnoughWhenAllGoesWell) {
  ScriptedRead read = {"0123456789", {}};
  EXPECT_EQ(ReadInto({4}, 2, read), (Outcome{0, "2345"}));
  EXPECT_EQ(read.calls, 1u);
  EXPECT_EQ(ReadInto({1, 0, 3, 2}, 0, read), (Outcome{0, "012345"}));
  EXPECT_EQ(read.calls, 2u);
}

TEST(TransferTest, CallsNothingForNothing) {
  ScriptedRead read = {"0123456789", {}};
  EXPECT_EQ(ReadInto({}, 3, read), (Outcome{0, ""}));
  EXPECT_EQ(ReadInto({0, 0}, 3, read), (Outcome{0, ""}));
  EXPECT_EQ(read.calls, 0u);
}

TEST(TransferTest, GoesOnAfterShortTransfersWhereverTheyStop) {
  for (ssize_t first = 1; first <= 10; ++first) {
    for (ssize_t second = 1; second <= 10; ++second) {
      ScriptedRead read = {"0123456789", {first, second}};
      EXPECT_EQ(ReadInto({3, 0, 1, 4, 2}, 0, read), (Outcome{0, "0123456789"}))
          << first << ' ' << second;
    }
  }
}

TEST(TransferTest, RepeatsInterruptedCalls) {
  ScriptedRead read = {"0123456789", {-EINTR, -EINTR, 4, -EINTR, 1, -EINTR}};
  EXPECT_EQ(ReadInto({3, 3, 4}, 0, read), (Outcome{0, "0123456789"}));
}

TEST(TransferTest, TheEndOfTheFileIsEio) {
  ScriptedRead read = {"0123456789", {}};
  EXPECT_EQ(ReadInto({4, 4}, 5, read), (Outcome{EIO, "56789..."}));
  EXPECT_EQ(ReadInto({4}, 10, read), (Outcome{EIO, "...."}));
  EXPECT_EQ(ReadInto({5, 5}, 5, read).error, EIO);
}

TEST(TransferTest, ReportsTheErrorOfAnyCall) {
  ScriptedRead at_once = {"0123456789", {-ENOMEM}};
  EXPECT_EQ(ReadInto({4}, 0, at_once).error, ENOMEM);
  ScriptedRead within_a_buffer = {"0123456789", {5, -ENXIO}};
  EXPECT_EQ(ReadInto({4, 4}, 0, within_a_buffer).error, ENXIO);
  ScriptedRead between_buffers = {"0123456789", {4, -ENXIO}};
  EXPECT_EQ(ReadInto({4, 4}, 0, between_buffers).error, ENXIO);
}

TEST(TransferTest, AnOddOffsetBehindAShortTransferIsEio) {
  ScriptedRead direct = {"0123456789", {5, -EINVAL}};
  EXPECT_EQ(ReadInto({4, 4}, 0, direct).error, EIO);
  ScriptedRead misused = {"0123456789", {-EINVAL}};
  EXPECT_EQ(ReadInto({4, 4}, 0, misused).error, EINVAL);
}

TEST(TransferTest, SplitsListsThatAreTooLongForOneCall) {
  const std::string file(3 * IOV_MAX, 'x');
  ScriptedRead read = {file, {}};
  EXPECT_EQ(ReadInto(std::vector<size_t>(2 * IOV_MAX + 5, 1), 0, read).error, 0);
  EXPECT_EQ(read.calls, 3u);
  EXPECT_EQ(read.largest_count, IOV_MAX);
}

TEST(TransferTest, MovesEveryByteToItsPlaceUnderRandomTrouble) {
  Prng prng(TestSeed("Transfer"));
  std::string file(5000, '\0');
  for (char& byte : file) {
    byte = static_cast<char>(prng.Between('a', 'z'));
  }
  for (int round = 0; round < 500; ++round) {
    ScriptedRead read = {file, {}};
    for (int i = 0; i < 40; ++i) {
      read.script.push_back(prng.OneIn(4) ? -EINTR : static_cast<ssize_t>(prng.Between(1, 300)));
    }
    std::vector<size_t> lengths;
    size_t total = 0;
    for (uint64_t n = prng.Below(30); n > 0; --n) {
      lengths.push_back(prng.Below(100));
      total += lengths.back();
    }
    const uint64_t offset_bytes = prng.Below(file.size() - total);
    ASSERT_EQ(ReadInto(lengths, offset_bytes, read),
              (Outcome{0, file.substr(offset_bytes, total)}));
  }
}

}  // namespace
}  // namespace mdvol
