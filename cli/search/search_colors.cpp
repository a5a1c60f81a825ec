#include "cli/search/search_colors.hpp"

#include <algorithm>

namespace hemstitch::cli {

void SearchColors::begin(std::string_view color, std::string& output) const {
  if (color.empty()) return;
  output.append("\33[").append(color).append(erase_line ? "m\33[K" : "m");
}

void SearchColors::end(std::string_view color, std::string& output) const {
  if (!color.empty()) output.append(erase_line ? "\33[m\33[K" : "\33[m");
}

void SearchColors::add(std::string_view color, std::string_view text, std::string& output) const {
  begin(color, output);
  output.append(text);
  end(color, output);
}

SearchColors search_colors(std::string_view setting) {
  SearchColors colors;
  while (!setting.empty()) {
    const std::string_view part = setting.substr(0, setting.find(':'));
    setting.remove_prefix(std::min(setting.size(), part.size() + 1));
    const std::string_view name = part.substr(0, part.find('='));
    const bool has_value = name.size() != part.size();
    const std::string value(has_value ? part.substr(name.size() + 1) : part.substr(part.size()));
    if ((has_value && name.empty()) || value.find_first_not_of("0123456789;") != std::string::npos) break;
    if (name == "rv") colors.reverse = true;
    if (name == "ne") colors.erase_line = false;
    if (!has_value && name == "mt") colors.context_match = colors.selected_match;  // as grep does
    if (!has_value) continue;
    if (name == "mt") colors.selected_match = colors.context_match = value;
    if (name == "ms") colors.selected_match = value;
    if (name == "mc") colors.context_match = value;
    if (name == "sl") colors.selected_line = value;
    if (name == "cx") colors.context_line = value;
    if (name == "fn") colors.file_name = value;
    if (name == "ln") colors.line_number = value;
    if (name == "bn") colors.byte_offset = value;
    if (name == "se") colors.separator = value;
  }
  return colors;
}

}  // namespace hemstitch::cli
