// The colours of search, which are grep's: GREP_COLORS sets them as grep(1) describes.
#pragma once

#include <string>
#include <string_view>

namespace hemstitch::cli {

// Each as in "ESC [ 01;31 m"; no colour if empty.
struct SearchColors {
  std::string selected_match = "01;31", context_match = "01;31";
  std::string selected_line, context_line;
  std::string file_name = "35", line_number = "32", byte_offset = "32", separator = "36";
  bool reverse = false;    // with -v, swap selected and other lines
  bool erase_line = true;  // to its end, which some terminals need wherever a colour changes

  void begin(std::string_view color, std::string& output) const;
  void end(std::string_view color, std::string& output) const;
  void add(std::string_view color, std::string_view text, std::string& output) const;
};

// `setting` is the variable's value. Nothing after an error in it is used.
SearchColors search_colors(std::string_view setting);

}  // namespace hemstitch::cli
