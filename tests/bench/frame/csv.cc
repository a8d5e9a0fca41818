// See csv.h.

#include "tests/bench/frame/csv.h"

#include <cerrno>
#include <fstream>
#include <iterator>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/base/status.h"

namespace mdvol::bench {
namespace {

constexpr std::string_view kHeader =
    "scenario,policy,workload,metric,unit,value,repeat,report_value,bound";
constexpr size_t kFields = 9;

std::string Quoted(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    return std::string(text);
  }
  std::string quoted = "\"";
  for (const char c : text) {
    quoted += c;
    if (c == '"') {
      quoted += c;
    }
  }
  return quoted + '"';
}

std::string Number(std::optional<double> value) {
  return value.has_value() ? absl::StrFormat("%.9g", *value) : std::string();
}

absl::Status LineError(size_t line, std::string_view what) {
  return ErrnoStatus(EINVAL, absl::StrCat("line ", line, ": ", std::string(what)));
}

// Takes one record's fields off the front of `text`; `line` counts the line ends passed.
absl::StatusOr<std::vector<std::string>> TakeFields(std::string_view* text, size_t* line) {
  std::vector<std::string> fields(1);
  const size_t first_line = *line;
  bool is_quoted = false;
  size_t i = 0;
  for (; i < text->size(); ++i) {
    const char c = (*text)[i];
    *line += c == '\n' ? 1 : 0;
    if (c == '"') {
      if (is_quoted && i + 1 < text->size() && (*text)[i + 1] == '"') {
        fields.back() += c;
        ++i;
      } else {
        is_quoted = !is_quoted;
      }
    } else if (is_quoted) {
      fields.back() += c;
    } else if (c == '\n') {
      text->remove_prefix(i + 1);
      return fields;
    } else if (c == ',') {
      fields.emplace_back();
    } else if (c != '\r') {
      fields.back() += c;
    }
  }
  text->remove_prefix(i);
  if (is_quoted) {
    return LineError(first_line, "a quote that does not end");
  }
  return fields;
}

bool TakeNumber(const std::string& field, std::optional<double>* value) {
  double number = 0;
  if (field.empty()) {
    value->reset();
    return true;
  }
  if (!absl::SimpleAtod(field, &number)) {
    return false;
  }
  *value = number;
  return true;
}

absl::StatusOr<Record> RecordOf(const std::vector<std::string>& fields, size_t line) {
  if (fields.size() != kFields) {
    return LineError(line, absl::StrCat(fields.size(), " fields instead of ", kFields));
  }
  Record record{.scenario = fields[0],
                .policy = fields[1],
                .workload = fields[2],
                .metric = fields[3],
                .unit = fields[4],
                .report_value = {},
                .bound = {}};
  if (!absl::SimpleAtod(fields[5], &record.value)) {
    return LineError(line, absl::StrCat("the value \"", fields[5], "\" is no number"));
  }
  if (!absl::SimpleAtoi(fields[6], &record.repeat)) {
    return LineError(line, absl::StrCat("the repeat \"", fields[6], "\" is no number"));
  }
  if (!TakeNumber(fields[7], &record.report_value) || !TakeNumber(fields[8], &record.bound)) {
    return LineError(line, "report_value or bound is no number");
  }
  return record;
}

}  // namespace

std::string FormatCsv(const std::vector<Record>& records) {
  std::string text = absl::StrCat(std::string(kHeader), "\n");
  for (const Record& record : records) {
    for (const std::string* field :
         {&record.scenario, &record.policy, &record.workload, &record.metric, &record.unit}) {
      absl::StrAppend(&text, Quoted(*field), ",");
    }
    absl::StrAppend(&text, Number(record.value), ",", record.repeat, ",",
                    Number(record.report_value), ",", Number(record.bound), "\n");
  }
  return text;
}

absl::StatusOr<std::vector<Record>> ParseCsv(std::string_view text) {
  std::vector<Record> records;
  size_t line = 1;
  bool is_header = true;
  while (!text.empty()) {
    const size_t first_line = line;
    const std::string_view before = text;
    MDVOL_ASSIGN_OR_RETURN(const std::vector<std::string> fields, TakeFields(&text, &line));
    if (is_header) {
      const std::string_view header = before.substr(0, before.find_first_of("\r\n"));
      if (header != kHeader) {
        return LineError(first_line, absl::StrCat("the header is not ", std::string(kHeader)));
      }
      is_header = false;
    } else {
      MDVOL_ASSIGN_OR_RETURN(Record record, RecordOf(fields, first_line));
      records.push_back(std::move(record));
    }
  }
  if (is_header) {
    return LineError(1, "no header");
  }
  return records;
}

absl::Status WriteTextFile(const std::string& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  return file.good() ? absl::OkStatus()
                     : ErrnoStatus(EIO, absl::StrCat(path, ": cannot be written"));
}

absl::StatusOr<std::string> ReadTextFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file.is_open()) {
    return ErrnoStatus(ENOENT, absl::StrCat(path, ": cannot be opened"));
  }
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad()) {
    return ErrnoStatus(EIO, absl::StrCat(path, ": cannot be read"));
  }
  return text;
}

}  // namespace mdvol::bench
