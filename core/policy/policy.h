// Policy: what all policies have in common, and how a policy says what can be set about it.
//
// A policy is a pure decision: facts in, decision out. It knows no member, no lock and no clock but
// the times in its facts, and can change how fast the engine is, never what it stores. It may keep
// what it has learned from earlier facts; its family's header says from which threads it is asked.
//
// Its options are numbers, fixed when it is made: to change one is to make the policy anew, as a
// switch to another policy is. This header, like all of this folder's families, uses nothing but
// the standard library, for policies are built out of tree too (policies/plugin.h).

#ifndef MDVOL_CORE_POLICY_POLICY_H_
#define MDVOL_CORE_POLICY_POLICY_H_

#include <span>

namespace mdvol {

class Policy {
 public:
  Policy() = default;
  Policy(const Policy&) = delete;
  Policy& operator=(const Policy&) = delete;
  virtual ~Policy() = default;
};

// One option. Strings have static lifetime; a name is of small letters, digits and underscores and
// ends in its unit, as "retention_ms".
struct PolicyOptionInfo {
  const char* name;
  double standard;  // where nobody says otherwise
  double least;
  double most;
  bool is_whole;     // no fractions
  const char* what;  // one line, for people
};

// The values of a policy's options, in the order in which it declares them.
using PolicyNumbers = std::span<const double>;

}  // namespace mdvol

#endif  // MDVOL_CORE_POLICY_POLICY_H_
