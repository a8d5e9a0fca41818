// See write_intent.h.

#include "core/array/write_intent.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "core/base/check.h"
#include "core/base/units.h"

namespace mdvol {
namespace {

constexpr uint64_t kPageBytes = 4096;
// Beyond so many, bits are not remembered as recently used: they are cleared sooner than others.
constexpr size_t kMaxUses = 65536;

BitmapSuperblock SuperOf(const std::vector<uint8_t>& file) {
  BitmapSuperblock super;
  std::memcpy(&super, file.data(), sizeof(super));
  return super;
}

}  // namespace

WriteIntent::WriteIntent(std::vector<uint8_t> file) : file_(std::move(file)) {
  MDVOL_CHECK(file_.size() >= kBitmapSuperBytes);
  const BitmapSuperblock super = SuperOf(file_);
  chunk_bytes_ = super.chunksize;
  // A bitmap may claim to cover more than the array has, and more than fits where it lies: what
  // does not fit covers nothing of the array (CheckBitmap).
  bits_ = std::min(CeilDiv(super.sync_size, chunk_bytes_ / kSectorBytes),
                   (file_.size() - kBitmapSuperBytes) * 8);
  const std::span<const uint8_t> bytes = std::span(file_).subspan(kBitmapSuperBytes);
  for (uint64_t byte = 0; byte < bits_ / 8; ++byte) {
    set_count_ += static_cast<uint64_t>(std::popcount(bytes[byte]));
  }
  for (uint64_t bit = RoundDown(bits_, 8); bit < bits_; ++bit) {
    set_count_ += Get(bit) ? 1u : 0u;
  }
}

template <typename Visit>
void WriteIntent::ForEachSet(Visit visit) const {
  uint64_t left = set_count_;
  for (uint64_t first = 0; left > 0 && first < bits_; first += 64) {
    const size_t at = kBitmapSuperBytes + first / 8;
    le64 bytes = 0;
    std::memcpy(&bytes, file_.data() + at, std::min(sizeof(bytes), file_.size() - at));
    for (uint64_t word = bytes; word != 0 && left > 0; word &= word - 1) {
      const uint64_t bit = first + static_cast<uint64_t>(std::countr_zero(word));
      if (bit >= bits_) {
        return;  // padding, which may hold anything
      }
      visit(bit);
      --left;
    }
  }
}

WriteIntent::Range WriteIntent::BitsOf(uint64_t begin_bytes, uint64_t end_bytes) const {
  return {begin_bytes / chunk_bytes_, std::min((end_bytes - 1) / chunk_bytes_, bits_ - 1)};
}

bool WriteIntent::Get(uint64_t bit) const {
  return ((file_[kBitmapSuperBytes + bit / 8] >> (bit % 8)) & 1) != 0;
}

void WriteIntent::Set(uint64_t bit, bool value) {
  if (Get(bit) == value) {
    return;
  }
  file_[kBitmapSuperBytes + bit / 8] ^= static_cast<uint8_t>(1u << (bit % 8));
  set_count_ += value ? uint64_t{1} : ~uint64_t{0};
}

bool WriteIntent::AllSet(Range range) const {
  for (uint64_t bit = range.first; bit <= range.last; ++bit) {
    if (!Get(bit)) {
      return false;
    }
  }
  return true;
}

BitmapPage WriteIntent::PageAt(uint64_t page) const {
  const uint64_t begin = page * kPageBytes;
  const uint64_t end = std::min<uint64_t>(begin + kPageBytes, file_.size());
  return {begin,
          {file_.begin() + static_cast<int64_t>(begin), file_.begin() + static_cast<int64_t>(end)}};
}

std::vector<BitmapPage> WriteIntent::PagesOf(std::span<const uint64_t> bits) const {
  std::vector<uint64_t> pages;
  for (const uint64_t bit : bits) {
    pages.push_back((kBitmapSuperBytes + bit / 8) / kPageBytes);
  }
  std::sort(pages.begin(), pages.end());
  pages.erase(std::unique(pages.begin(), pages.end()), pages.end());
  std::vector<BitmapPage> result;
  for (const uint64_t page : pages) {
    result.push_back(PageAt(page));
  }
  return result;
}

std::vector<BitmapPage> WriteIntent::AllPages() const {
  std::vector<BitmapPage> result;
  for (uint64_t page = 0; page < CeilDiv(file_.size(), kPageBytes); ++page) {
    result.push_back(PageAt(page));
  }
  return result;
}

// One flight: stores the wanted bits and, when that worked, makes them the truth in memory.
bool WriteIntent::StoreWanted(const Store& store) {
  const std::vector<uint64_t> bits(wanted_.begin(), wanted_.end());
  wanted_.clear();
  // The pages carry the new bits; memory gets them only once they are durable.
  std::vector<uint64_t> fresh;
  for (const uint64_t bit : bits) {
    if (!Get(bit)) {
      Set(bit, true);
      fresh.push_back(bit);
    }
  }
  const std::vector<BitmapPage> pages = PagesOf(bits);
  for (const uint64_t bit : fresh) {
    Set(bit, false);
  }
  in_flight_ = true;
  mutex_.Unlock();
  const bool stored = store(pages, /*flush=*/true);
  mutex_.Lock();
  in_flight_ = false;
  if (stored) {
    for (const uint64_t bit : bits) {
      Set(bit, true);
    }
  }
  landed_.SignalAll();
  return stored;
}

bool WriteIntent::Start(Range range, const Store& store) {
  absl::MutexLock lock(&mutex_);
  while (!AllSet(range)) {
    for (uint64_t bit = range.first; bit <= range.last; ++bit) {
      if (!Get(bit)) {
        wanted_.insert(bit);
      }
    }
    if (in_flight_) {
      landed_.Wait(&mutex_);
    } else if (!StoreWanted(store)) {
      return false;
    }
  }
  for (uint64_t bit = range.first; bit <= range.last; ++bit) {
    ++uses_[bit].in_flight;
  }
  return true;
}

void WriteIntent::End(Range range) {
  absl::MutexLock lock(&mutex_);
  for (uint64_t bit = range.first; bit <= range.last; ++bit) {
    Use& use = uses_.at(bit);
    MDVOL_CHECK(use.in_flight > 0);
    --use.in_flight;
    use.last_step = step_;
    if (use.in_flight == 0 && uses_.size() > kMaxUses) {
      uses_.erase(bit);
      forgot_use_ = true;
    }
  }
}

std::vector<uint64_t> WriteIntent::IdleBits() const {
  std::vector<uint64_t> idle;
  ForEachSet([&](uint64_t bit) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto use = uses_.find(bit);
    if (use == uses_.end() || IsIdle(use->second)) {
      idle.push_back(bit);
    }
  });
  return idle;
}

void WriteIntent::Age() {
  absl::MutexLock lock(&mutex_);
  ++step_;
  absl::erase_if(uses_, [this](const auto& entry)
                            ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return IsIdle(entry.second); });
}

void WriteIntent::ClearIdle(const std::function<bool()>& flush_members, const Store& store) {
  {
    absl::MutexLock lock(&mutex_);
    ++step_;
    forgot_use_ = false;
    if (IdleBits().empty()) {
      return;
    }
  }
  if (!flush_members()) {
    return;
  }
  absl::MutexLock lock(&mutex_);
  while (in_flight_) {
    landed_.Wait(&mutex_);
  }
  if (forgot_use_) {
    return;  // some of the bits may have been written under after the flush
  }
  // What was written meanwhile is not idle any more; what still is has been flushed since its last
  // write.
  const std::vector<uint64_t> idle = IdleBits();
  for (const uint64_t bit : idle) {
    Set(bit, false);
    uses_.erase(bit);
  }
  const std::vector<BitmapPage> pages = PagesOf(idle);
  in_flight_ = true;  // a bit that is wanted again must reach the members after this
  mutex_.Unlock();
  store(pages, /*flush=*/false);
  mutex_.Lock();
  in_flight_ = false;
  landed_.SignalAll();
}

std::vector<BitmapPage> WriteIntent::ClearAll() {
  absl::MutexLock lock(&mutex_);
  for (const auto& [bit, use] : uses_) {
    MDVOL_CHECK(use.in_flight == 0);
  }
  uses_.clear();
  for (uint64_t bit = 0; bit < bits_; ++bit) {
    Set(bit, false);
  }
  return AllPages();
}

void WriteIntent::SetAll() {
  absl::MutexLock lock(&mutex_);
  for (uint64_t bit = 0; bit < bits_; ++bit) {
    Set(bit, true);
  }
}

std::vector<BitmapPage> WriteIntent::Pages() const {
  absl::MutexLock lock(&mutex_);
  return AllPages();
}

bool WriteIntent::AgreesWith(const std::vector<uint8_t>& file) const {
  absl::MutexLock lock(&mutex_);
  const size_t end = kBitmapSuperBytes + CeilDiv(bits_, 8);
  if (file.size() < end) {
    return false;
  }
  const BitmapSuperblock super = SuperOf(file);
  return super.chunksize == chunk_bytes_ &&
         std::equal(file.begin() + kBitmapSuperBytes, file.begin() + static_cast<int64_t>(end),
                    file_.begin() + kBitmapSuperBytes);
}

std::optional<WriteIntent::Range> WriteIntent::NextSet(uint64_t from) const {
  absl::MutexLock lock(&mutex_);
  uint64_t first = from;
  while (first < bits_ && !Get(first)) {
    // Whole bytes without a bit are passed over at once.
    const bool is_empty = first % 8 == 0 && file_[kBitmapSuperBytes + first / 8] == 0;
    first += is_empty ? 8 : 1;
  }
  if (first >= bits_) {
    return std::nullopt;
  }
  uint64_t last = first;
  while (last + 1 < bits_ && Get(last + 1)) {
    ++last;
  }
  return Range{first, last};
}

bool WriteIntent::IsSet(uint64_t bit) const {
  absl::MutexLock lock(&mutex_);
  return Get(bit);
}

uint64_t WriteIntent::CountSet() const {
  absl::MutexLock lock(&mutex_);
  return set_count_;
}

uint64_t WriteIntent::CountSetPages() const {
  absl::MutexLock lock(&mutex_);
  uint64_t pages = 0;
  uint64_t last_page = ~uint64_t{0};
  ForEachSet([&](uint64_t bit) {
    const uint64_t page = (kBitmapSuperBytes + bit / 8) / kPageBytes;
    pages += page != last_page ? 1u : 0u;
    last_page = page;
  });
  return pages;
}

BitmapSuperblock WriteIntent::super() const {
  absl::MutexLock lock(&mutex_);
  return SuperOf(file_);
}

BitmapPage WriteIntent::UpdateSuper(const std::function<void(BitmapSuperblock&)>& change) {
  absl::MutexLock lock(&mutex_);
  BitmapSuperblock super = SuperOf(file_);
  change(super);
  std::memcpy(file_.data(), &super, sizeof(super));
  return PageAt(0);
}

}  // namespace mdvol
