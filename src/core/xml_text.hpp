// Text of any bytes, such as the name of a file, within XML: our drawings are SVG.
#pragma once

#include <string>
#include <string_view>

namespace hemstitch {

// Text for the content of an element. Markup is escaped. A byte that XML does not allow (a control character, or one that is no
// part of valid UTF-8) becomes a question mark.
std::string xml_text(std::string_view text);

}  // namespace hemstitch
