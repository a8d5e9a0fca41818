// Seeds for random tests: printed, so that a failure can be run again, and accepted.
//
// TestSeed("Name") is the same on every run unless the environment says otherwise:
//   MDVOL_TEST_SEED       this seed for every caller (decimal, or hexadecimal after 0x)
//   MDVOL_TEST_SEED_SALT  other seeds than the default ones, still repeatable (any text)
// The seed is printed once per name as "[ SEED     ] name 0x…"; MDVOL_TEST_SEED takes it as
// printed. A seed that once failed is committed as a constant beside its cause.
//
// Threading: TestSeed is safe from any thread. A Prng belongs to one thread.

#ifndef MDVOL_TESTS_SUPPORT_SEED_H_
#define MDVOL_TESTS_SUPPORT_SEED_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace mdvol::testing {

// Ends the process with one line if MDVOL_TEST_SEED is not a number: running another seed than the
// one that was asked for would look like success.
uint64_t TestSeed(const char* test_name);

// The rule behind TestSeed, without the environment: nullptr stands for an unset variable. Returns
// false if `seed_text` is not a number.
bool DeriveSeed(const char* test_name, const char* seed_text, const char* salt_text,
                uint64_t* seed);

// SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014):
// the same numbers on every machine, unlike std's distributions. A UniformRandomBitGenerator.
class Prng {
 public:
  using result_type = uint64_t;

  explicit Prng(uint64_t seed) : state_(seed) {}

  uint64_t Next();

  // 0 <= result < bound; bound > 0. Uniform but for a bias below bound / 2^64.
  uint64_t Below(uint64_t bound);

  // first <= result <= last.
  uint64_t Between(uint64_t first, uint64_t last);

  bool OneIn(uint64_t n) { return Below(n) == 0; }

  void Fill(std::span<std::byte> bytes);

  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }
  result_type operator()() { return Next(); }

 private:
  uint64_t state_;
};

}  // namespace mdvol::testing

#endif  // MDVOL_TESTS_SUPPORT_SEED_H_
