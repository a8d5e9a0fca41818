// See attribute.h: a fault rule in the words of the configuration. Defaults are left out, so that
// what is read is what would be written.

#include <limits>
#include <string>

#include "absl/strings/str_format.h"
#include "fuse/control/attribute.h"

namespace mdvol {
namespace {

std::string_view KindWord(FaultKind kind) {
  switch (kind) {
    case FaultKind::kError:
      return "eio";
    case FaultKind::kDelay:
      return "delay";
    case FaultKind::kCorrupt:
      return "corrupt";
    case FaultKind::kDrop:
      return "drop";
    case FaultKind::kTorn:
      return "torn";
  }
  return "";
}

std::string_view OpWord(FaultOp op) {
  switch (op) {
    case FaultOp::kRead:
      return "read";
    case FaultOp::kWrite:
      return "write";
    case FaultOp::kFlush:
      return "flush";
    case FaultOp::kAny:
      return "any";
  }
  return "";
}

}  // namespace

std::string FormatFaultRule(const FaultRule& rule) {
  std::string text =
      absl::StrFormat("kind = \"%s\", op = \"%s\"", KindWord(rule.kind), OpWord(rule.op));
  if (rule.offset_bytes != 0) {
    absl::StrAppendFormat(&text, ", offset = %u", rule.offset_bytes);
  }
  if (rule.length_bytes != std::numeric_limits<uint64_t>::max()) {
    absl::StrAppendFormat(&text, ", length = %u", rule.length_bytes);
  }
  if (rule.nth != 0) {
    absl::StrAppendFormat(&text, ", nth = %u", rule.nth);
  }
  if (rule.probability != 1.0) {
    absl::StrAppendFormat(&text, ", probability = %g", rule.probability);
  }
  if (rule.kind == FaultKind::kDelay) {
    absl::StrAppendFormat(&text, ", delay_us = %u", rule.delay_ns / 1000);
  }
  if (rule.until == FaultUntil::kWrite) {
    text += ", until = \"write\"";
  }
  return text;
}

}  // namespace mdvol
