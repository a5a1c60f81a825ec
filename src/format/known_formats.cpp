// The list of formats. It is apart from the functions of the table, since a program may have a list of its
// own (bindings/web).
#include <utility>

#include "format/deflate/deflate_formats.hpp"
#include "format/formats.hpp"
#include "format/lz4/lz4_format.hpp"

namespace hemstitch {

FormatTable::FormatTable() {
  formats_.push_back(make_lz4_format());
  for (auto& format : make_deflate_formats()) formats_.push_back(std::move(format));
}

}  // namespace hemstitch
