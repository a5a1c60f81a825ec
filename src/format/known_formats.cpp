// The list of formats. It is apart from the functions of the table, since a program may have a list of its
// own (bindings/web).
#include <utility>

#include "format/deflate/deflate_codec.hpp"
#include "format/deflate/deflate_formats.hpp"
#include "format/formats.hpp"
#include "format/lz4/lz4_codec.hpp"
#include "format/lz4/lz4_format.hpp"

namespace hemstitch {

FormatTable::FormatTable() {
  add({make_lz4_format(), make_lz4_codec(), make_lz4_reference_codec()});
  for (auto& format : make_deflate_formats()) {
    const Format id = format->id();
    add({std::move(format), make_deflate_codec(id), make_deflate_reference_codec(id)});
  }
}

}  // namespace hemstitch
