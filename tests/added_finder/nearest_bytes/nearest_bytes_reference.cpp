#include <algorithm>

#include "core/bytes.hpp"
#include "nearest_bytes/nearest_bytes.hpp"

namespace hemstitch {

void check_parameters(const NearestBytesParameters& parameters) {
  require_parameter(parameters.window_bytes >= 4, "window_size", parameters.window_bytes, "at least 4");
}

FoundMatches find_reference(const FinderInput& input, const NearestBytesParameters& parameters) {
  FoundMatches found{MatchRecords(input.block_bytes(), 0)};
  const std::byte* data = input.data.data();
  for (std::size_t i = 0; i + 4 <= input.block_bytes(); ++i) {
    const std::size_t position = input.history_bytes + i;
    const std::size_t farthest = std::min<std::size_t>(position, parameters.window_bytes);
    for (std::size_t offset = 1; offset <= farthest; ++offset) {
      if (load_le32(data + position) != load_le32(data + position - offset)) continue;
      std::size_t length = 4;
      while (length < kMaxRecordLength && position + length < input.data.size() &&
             data[position + length] == data[position + length - offset])
        ++length;
      found.records[i] = pack_match(static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(length));
      break;
    }
  }
  return found;
}

}  // namespace hemstitch
