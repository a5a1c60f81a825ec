// The host's halves of the formats. They are apart from the functions of the table, since a program may have a
// list of its own (bindings/web).
#include <utility>

#include "format/formats.hpp"

namespace hemstitch {

FormatTable::FormatTable() {
#define ADD(name, cuda, webgpu) \
  for (auto&& row : make_##name##_formats()) add(std::move(row));
  HEMSTITCH_KNOWN_FORMATS(ADD)
#undef ADD
}

}  // namespace hemstitch
