// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "hostd/cli/text.h"

namespace dormouse::cli {

struct Cell {
    Cell(std::string cell_text, Style cell_style = Style::None)
        : text(std::move(cell_text)), style(cell_style) {}
    Cell(const char* cell_text) : text(cell_text) {}
    std::string text;
    Style style = Style::None;
};

// Columns as wide as their longest cell, two spaces between them, no spaces at
// the ends of lines. Cells are shown as plain().
class Table {
  public:
    Table() = default;  // without a header
    explicit Table(std::vector<Cell> header);
    void add(std::vector<Cell> row) { rows_.push_back(std::move(row)); }
    std::string render(bool colour) const;

  private:
    std::vector<std::vector<Cell>> rows_;
};

}  // namespace dormouse::cli
