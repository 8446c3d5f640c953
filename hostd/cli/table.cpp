// SPDX-License-Identifier: Apache-2.0
#include "hostd/cli/table.h"

#include <algorithm>

namespace dormouse::cli {

Table::Table(std::vector<Cell> header) {
    for (auto& cell : header) cell.style = Style::Bold;
    rows_.push_back(std::move(header));
}

std::string Table::render(bool colour) const {
    std::vector<std::size_t> widths;
    for (const auto& row : rows_) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t i = 0; i < row.size(); ++i)
            widths[i] = std::max(widths[i], columns(plain(row[i].text)));
    }
    std::string all;
    for (const auto& row : rows_) {
        std::size_t gap = 0;
        for (std::size_t i = 0; i < row.size(); ++i) {
            const auto text = plain(row[i].text);
            if (!text.empty()) {
                all.append(gap, ' ');
                all += styled(text, row[i].style, colour);
                gap = 0;
            }
            gap += widths[i] - columns(text) + 2;
        }
        all += '\n';
    }
    return all;
}

}  // namespace dormouse::cli
