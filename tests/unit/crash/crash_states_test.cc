// Which states of pending writes are enumerated.

#include "tests/crash/crash_states.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace mdvol::crash {
namespace {

std::set<KeptAtoms> AllOf(const StateChoices& choices) {
  std::set<KeptAtoms> states;
  for (size_t i = 0; i < choices.count(); ++i) {
    states.insert(choices.Get(i));
  }
  return states;
}

TEST(StateChoicesTest, HasOneStateWhenNothingIsPending) {
  const StateChoices choices({}, 16, 1);
  EXPECT_TRUE(choices.is_exhaustive());
  EXPECT_EQ(choices.count(), 1U);
  EXPECT_TRUE(choices.Get(0).empty());
}

TEST(StateChoicesTest, EnumeratesEverySubsetOfAtomsUpToTheBound) {
  const StateChoices choices({2, 1, 3}, 64, 1);
  EXPECT_TRUE(choices.is_exhaustive());
  EXPECT_EQ(AllOf(choices).size(), 64U);
}

TEST(StateChoicesTest, EnumeratesWholeWritesBeforeItSamplesTornOnes) {
  const StateChoices choices({2, 1, 3}, 63, 1);
  EXPECT_FALSE(choices.is_exhaustive());
  EXPECT_EQ(choices.count(), 63U);
  std::set<KeptAtoms> whole;
  for (size_t i = 0; i < 8; ++i) {
    const KeptAtoms kept = choices.Get(i);
    for (const auto& write : kept) {
      EXPECT_EQ(std::count(write.begin(), write.end(), write[0]),
                static_cast<ptrdiff_t>(write.size()));
    }
    whole.insert(kept);
  }
  EXPECT_EQ(whole.size(), 8U);
  EXPECT_GT(AllOf(choices).size(), 20U);
}

TEST(StateChoicesTest, LosesAndKeepsEachWriteAloneWhenThereAreMany) {
  const StateChoices choices(std::vector<size_t>(40, 8), 200, 1);
  const auto states = AllOf(choices);
  for (const bool rest : {false, true}) {
    KeptAtoms kept(40, std::vector<bool>(8, rest));
    EXPECT_TRUE(states.contains(kept));
    for (auto& write : kept) {
      write.assign(8, !rest);
      EXPECT_TRUE(states.contains(kept));
      write.assign(8, rest);
    }
  }
}

TEST(StateChoicesTest, TearsWritesInSamples) {
  const StateChoices choices(std::vector<size_t>(20, 8), 1000, 1);
  size_t torn = 0;
  for (size_t i = 0; i < choices.count(); ++i) {
    const KeptAtoms kept = choices.Get(i);
    torn += std::any_of(kept.begin(), kept.end(), [](const std::vector<bool>& write) {
      return std::count(write.begin(), write.end(), write[0]) != 8;
    });
  }
  EXPECT_GT(torn, 500U);
}

TEST(StateChoicesTest, GivesTheSameStatesForTheSameSeed) {
  const std::vector<size_t> atoms(20, 8);
  const StateChoices choices(atoms, 1000, 7);
  const StateChoices same(atoms, 1000, 7);
  const StateChoices other(atoms, 1000, 8);
  EXPECT_EQ(choices.Get(999), same.Get(999));
  EXPECT_NE(choices.Get(999), other.Get(999));
}

}  // namespace
}  // namespace mdvol::crash
