// See brute_force.h.

#include "tests/unit/core/stripe/brute_force.h"

#include <algorithm>
#include <array>
#include <bit>
#include <set>

#include "tests/support/oracle/field.h"
#include "tests/support/oracle/layout.h"

namespace mdvol::testing {
namespace {

using Products = std::array<std::array<uint8_t, 256>, 256>;

const Products& AllProducts() {
  static const Products* const products = [] {
    auto* table = new Products;
    for (unsigned a = 0; a < 256; ++a) {
      for (unsigned b = 0; b < 256; ++b) {
        (*table)[a][b] = oracle::Product(static_cast<uint8_t>(a), static_cast<uint8_t>(b));
      }
    }
    return table;
  }();
  return *products;
}

uint8_t InverseOf(uint8_t value) {
  static const std::array<uint8_t, 256>* const inverses = [] {
    auto* table = new std::array<uint8_t, 256>{};
    for (unsigned a = 1; a < 256; ++a) {
      (*table)[a] = oracle::Inverse(static_cast<uint8_t>(a));
    }
    return table;
  }();
  return (*inverses)[value];
}

// row += factor * other
void AddMultiple(LinearForm& row, uint8_t factor, const LinearForm& other) {
  for (size_t i = 0; i < row.size(); ++i) {
    row[i] ^= AllProducts()[factor][other[i]];
  }
}

// Rows with leading ones in different places, each reduced by those before it.
class Span {
 public:
  void Add(LinearForm form) {
    const size_t pivot = Reduce(form);
    if (pivot == form.size()) {
      return;
    }
    LinearForm row(form.size());
    AddMultiple(row, InverseOf(form[pivot]), form);
    rows_.push_back({pivot, std::move(row)});
  }

  bool Contains(LinearForm form) const { return Reduce(form) == form.size(); }

 private:
  struct Row {
    size_t pivot;
    LinearForm form;
  };

  // Subtracts what is known; returns the first place that is not zero.
  size_t Reduce(LinearForm& form) const {
    for (const Row& row : rows_) {
      AddMultiple(form, form[row.pivot], row.form);
    }
    const auto first =
        std::find_if(form.begin(), form.end(), [](uint8_t value) { return value != 0; });
    return static_cast<size_t>(first - form.begin());
  }

  std::vector<Row> rows_;
};

}  // namespace

BruteForce::BruteForce(const StripeFacts& facts) : data_disks_(facts.geometry().data_disks()) {
  const auto row = oracle::RowOf(static_cast<int>(facts.geometry().layout()),
                                 facts.geometry().raid_disks(), facts.stripe());
  for (const oracle::Cell& cell : row) {
    if (cell.kind == 'D') {
      forms_.push_back(DataForm(cell.data_index));
      continue;
    }
    LinearForm form(data_disks_);
    for (const oracle::Cell& data : row) {
      if (data.kind == 'D') {
        form[data.data_index] = cell.kind == 'P' ? 1 : oracle::PowerOfTwo(data.exponent);
      }
    }
    forms_.push_back(std::move(form));
  }
}

LinearForm BruteForce::DataForm(uint32_t data_index) const {
  LinearForm form(data_disks_);
  form[data_index] = 1;
  return form;
}

std::vector<LinearForm> BruteForce::NeededToWrite(const StripeFacts& facts,
                                                  std::span<const NewExtent> extents,
                                                  ColumnRange columns) const {
  // All byte positions between two edges are alike.
  std::set<uint64_t> positions = {columns.begin};
  for (const NewExtent& extent : extents) {
    for (const uint64_t edge : {extent.columns.begin, extent.columns.end}) {
      if (edge > columns.begin && edge < columns.end) {
        positions.insert(edge);
      }
    }
  }
  const auto is_written_at = [&](uint32_t data_index, uint64_t position) {
    return std::any_of(extents.begin(), extents.end(), [&](const NewExtent& extent) {
      return extent.data_index == data_index && extent.columns.begin <= position &&
             position < extent.columns.end;
    });
  };
  std::vector<LinearForm> needed;
  for (const uint64_t position : positions) {
    for (uint32_t slot = 0; slot < forms_.size(); ++slot) {
      if (facts.Access(slot, columns) == SlotAccess::kAbsent) {
        continue;
      }
      const ChunkRole role = facts.roles().RoleOf(slot);
      if (role.kind == ChunkKind::kData) {
        // A block is written as a whole: of one that is written, what stays must be known.
        const bool is_touched =
            std::any_of(positions.begin(), positions.end(),
                        [&](uint64_t other) { return is_written_at(role.data_index, other); });
        if (is_touched && !is_written_at(role.data_index, position)) {
          needed.push_back(DataForm(role.data_index));
        }
        continue;
      }
      // The new parity is a known constant plus the same form in the data that stays.
      LinearForm form = forms_[slot];
      for (uint32_t k = 0; k < data_disks_; ++k) {
        if (is_written_at(k, position)) {
          form[k] = 0;
        }
      }
      needed.push_back(std::move(form));
    }
  }
  return needed;
}

bool BruteForce::Suffices(std::span<const uint32_t> slots,
                          const std::vector<LinearForm>& needed) const {
  Span known;
  for (const uint32_t slot : slots) {
    known.Add(forms_[slot]);
  }
  return std::all_of(needed.begin(), needed.end(),
                     [&](const LinearForm& form) { return known.Contains(form); });
}

std::optional<size_t> BruteForce::SmallestSet(std::span<const uint32_t> usable,
                                              const std::vector<LinearForm>& needed) const {
  std::optional<size_t> smallest;
  for (uint32_t set = 0; set < 1u << usable.size(); ++set) {
    const auto size = static_cast<size_t>(std::popcount(set));
    if (smallest.has_value() && size >= *smallest) {
      continue;
    }
    std::vector<uint32_t> slots;
    for (uint32_t i = 0; i < usable.size(); ++i) {
      if ((set >> i & 1) != 0) {
        slots.push_back(usable[i]);
      }
    }
    if (Suffices(slots, needed)) {
      smallest = size;
    }
  }
  return smallest;
}

}  // namespace mdvol::testing
