// See seed.h.

#include "tests/support/seed.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>

#include "absl/base/const_init.h"
#include "absl/synchronization/mutex.h"

namespace mdvol::testing {
namespace {

// Where all default seeds start. Changing it changes every default run, so it stays.
constexpr uint64_t kDefaultSeed = 0x6d64766f6c763031;  // "mdvolv01"

uint64_t Mix(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

uint64_t MixText(uint64_t seed, const char* text) {
  for (; *text != '\0'; ++text) seed = Mix(seed ^ static_cast<unsigned char>(*text)) + 1;
  return seed;
}

void PrintOnce(const char* test_name, uint64_t seed) {
  static absl::Mutex mutex(absl::kConstInit);
  static auto* const printed = new std::set<std::string>;
  absl::MutexLock lock(&mutex);
  if (!printed->insert(test_name).second) return;
  std::printf("[ SEED     ] %s 0x%016llx\n", test_name, static_cast<unsigned long long>(seed));
  std::fflush(stdout);
}

}  // namespace

bool DeriveSeed(const char* test_name, const char* seed_text, const char* salt_text,
                uint64_t* seed) {
  if (seed_text == nullptr) {
    *seed = MixText(kDefaultSeed, test_name);
    if (salt_text != nullptr) *seed = MixText(Mix(*seed), salt_text);
    return true;
  }
  // Not base 0, which would read a leading zero as octal; nor may strtoull accept blanks or a sign.
  const bool is_hex = std::strncmp(seed_text, "0x", 2) == 0;
  const char* const digits = is_hex ? seed_text + 2 : seed_text;
  const char* const allowed = is_hex ? "0123456789abcdefABCDEF" : "0123456789";
  if (*digits == '\0' || digits[std::strspn(digits, allowed)] != '\0') return false;
  errno = 0;
  *seed = std::strtoull(digits, nullptr, is_hex ? 16 : 10);
  return errno == 0;
}

uint64_t TestSeed(const char* test_name) {
  const char* const seed_text = std::getenv("MDVOL_TEST_SEED");
  uint64_t seed = 0;
  if (!DeriveSeed(test_name, seed_text, std::getenv("MDVOL_TEST_SEED_SALT"), &seed)) {
    std::fprintf(stderr, "MDVOL_TEST_SEED=%s: not a 64-bit number, write it as 123 or 0x7b\n",
                 seed_text);
    std::exit(2);
  }
  PrintOnce(test_name, seed);
  return seed;
}

uint64_t Prng::Next() {
  state_ += 0x9e3779b97f4a7c15;
  return Mix(state_);
}

uint64_t Prng::Below(uint64_t bound) {
  // The high half of a 128-bit product (Lemire 2019), spelt without __int128, which -Wpedantic
  // rejects.
  const uint64_t value = Next();
  const uint64_t low = (value & 0xffffffff) * (bound & 0xffffffff);
  const uint64_t middle = (value >> 32) * (bound & 0xffffffff) + (low >> 32);
  const uint64_t cross = (value & 0xffffffff) * (bound >> 32) + (middle & 0xffffffff);
  return (value >> 32) * (bound >> 32) + (middle >> 32) + (cross >> 32);
}

uint64_t Prng::Between(uint64_t first, uint64_t last) {
  const uint64_t span = last - first + 1;
  return span == 0 ? Next() : first + Below(span);
}

void Prng::Fill(std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const uint64_t value = Next();
    const size_t length = std::min(bytes.size(), sizeof(value));
    std::memcpy(bytes.data(), &value, length);
    bytes = bytes.subspan(length);
  }
}

}  // namespace mdvol::testing
