// See layout.h.

#include "tests/support/oracle/layout.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace mdvol::testing::oracle {
namespace {

enum class Turn { kNone, kLeft, kRight };

// How a layout's rows come about. In `first_row`, '*' stands for the data chunks in volume order.
struct Rule {
  int id;
  std::string first_row;
  Turn turn;           // where everything moves to from one stripe to the next
  bool last_is_fixed;  // the last slot takes no part in the turning
  bool renumber;       // data chunks are numbered anew from slot 0 in each stripe
  bool ddf_exponents;  // exponent = slot
};

const Rule& RuleOf(int layout_id) {
  static const std::vector<Rule> rules = {
      {0, "Q*P", Turn::kLeft, false, true, false},   {1, "PQ*", Turn::kRight, false, true, false},
      {2, "Q*P", Turn::kLeft, false, false, false},  {3, "PQ*", Turn::kRight, false, false, false},
      {4, "PQ*", Turn::kNone, false, false, false},  {5, "*PQ", Turn::kNone, false, false, false},
      {8, "PQ*", Turn::kRight, false, true, true},   {9, "*PQ", Turn::kLeft, false, true, true},
      {10, "*QP", Turn::kLeft, false, false, true},  {16, "*PQ", Turn::kLeft, true, true, false},
      {17, "P*Q", Turn::kRight, true, true, false},  {18, "*PQ", Turn::kLeft, true, false, false},
      {19, "P*Q", Turn::kRight, true, false, false}, {20, "P*Q", Turn::kNone, false, false, false},
  };
  for (const Rule& rule : rules) {
    if (rule.id == layout_id) {
      return rule;
    }
  }
  std::fprintf(stderr, "oracle: no RAID6 layout has the id %d\n", layout_id);
  std::abort();
}

std::vector<Cell> FirstRow(const Rule& rule, unsigned members) {
  std::vector<Cell> row;
  for (const char mark : rule.first_row) {
    if (mark != '*') {
      row.push_back({mark, 0, 0});
      continue;
    }
    for (unsigned k = 0; k + 2 < members; ++k) {
      row.push_back({'D', k, 0});
    }
  }
  return row;
}

void TurnOnce(const Rule& rule, std::vector<Cell>* row) {
  const auto end = rule.last_is_fixed ? row->end() - 1 : row->end();
  if (rule.turn == Turn::kLeft) {
    std::rotate(row->begin(), row->begin() + 1, end);
  } else if (rule.turn == Turn::kRight) {
    std::rotate(row->begin(), end - 1, end);
  }
}

void Renumber(std::vector<Cell>* row) {
  unsigned next = 0;
  for (Cell& cell : *row) {
    if (cell.kind == 'D') {
      cell.data_index = next++;
    }
  }
}

void CountExponents(const Rule& rule, std::vector<Cell>* row) {
  std::vector<Cell> walk = *row;
  for (unsigned slot = 0; slot < walk.size(); ++slot) {
    walk[slot].exponent = slot;  // for now: where the cell came from
  }
  if (!rule.ddf_exponents) {
    while (walk.back().kind != 'Q') {
      std::rotate(walk.begin(), walk.begin() + 1, walk.end());
    }
  }
  unsigned next = 0;
  for (const Cell& cell : walk) {
    if (cell.kind == 'D') {
      const unsigned slot = cell.exponent;
      (*row)[slot].exponent = rule.ddf_exponents ? slot : next++;
    }
  }
}

}  // namespace

std::vector<Cell> RowOf(int layout_id, unsigned members, uint64_t stripe) {
  const Rule& rule = RuleOf(layout_id);
  std::vector<Cell> row = FirstRow(rule, members);
  // After this many turns everything is back where it was.
  const uint64_t period = rule.last_is_fixed ? members - 1 : members;
  for (uint64_t turn = stripe % period; turn > 0; --turn) {
    TurnOnce(rule, &row);
  }
  if (rule.renumber) {
    Renumber(&row);
  }
  CountExponents(rule, &row);
  return row;
}

}  // namespace mdvol::testing::oracle
