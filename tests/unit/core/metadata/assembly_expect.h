// What tests of the assembly decision expect.

#ifndef MDVOL_TESTS_UNIT_CORE_METADATA_ASSEMBLY_EXPECT_H_
#define MDVOL_TESTS_UNIT_CORE_METADATA_ASSEMBLY_EXPECT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "core/metadata/assembly.h"

namespace mdvol::testing {

// DecideAssembly, and every member got a reason of one line.
AssemblyDecision Decide(const std::vector<MemberReport>& reports,
                        const AssemblyOptions& options = {});

AssemblyDecision ExpectRuns(const std::vector<MemberReport>& reports,
                            const AssemblyOptions& options = {});

// Refused in one line that contains `words`.
AssemblyDecision ExpectRefused(const std::vector<MemberReport>& reports, const std::string& words,
                               const AssemblyOptions& options = {});

// Report i got this standing and a reason that contains `words`.
void ExpectStanding(const AssemblyDecision& decision, size_t i, MemberStanding standing,
                    const std::string& words);

}  // namespace mdvol::testing

#endif  // MDVOL_TESTS_UNIT_CORE_METADATA_ASSEMBLY_EXPECT_H_
