// For the parser alone: the tables of keys, one per section. What is not in a table is an unknown
// key; ConfigKeys() and the test of the example come from the same tables. Constant data.

#ifndef MDVOL_CORE_CONFIG_CONFIG_RULES_H_
#define MDVOL_CORE_CONFIG_CONFIG_RULES_H_

#include <string>
#include <vector>

#include "core/config/config.h"
#include "core/config/config_value.h"

namespace mdvol::config_internal {

// Reads a whole file, the checks across keys of one section included.
void ReadDocument(const toml::table& root, Document& document, Config& config);

// [policy] and what is below it.
void ReadPolicy(const Value& value, PolicyConfig& policy);
void AddPolicyKeys(std::vector<std::string>& keys);

// All [[fault]] tables.
void ReadFaults(const Value& value, Config& config);
void AddFaultKeys(std::vector<std::string>& keys);
// The keys of one fault, which is a table; `has_member`: whether `member` must or must not be one.
void ReadFault(const Value& value, bool has_member, FaultConfig& fault);

// See ConfigKeys() in config.h.
std::vector<std::string> AllKeys();

}  // namespace mdvol::config_internal

#endif  // MDVOL_CORE_CONFIG_CONFIG_RULES_H_
