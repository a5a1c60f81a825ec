#include "core/between_pieces.hpp"
#include "parse/lazy/lazy.hpp"

namespace hemstitch {

template <typename Record>
std::vector<Sequence> parse_lazy(const BasicParseInput<Record>& input, std::uint32_t lazy_skip) {
  const std::size_t block_bytes = input.records.size();
  const auto usable = [&](std::size_t position) {
    return position < block_bytes ? usable_match(input.records[position], position, block_bytes, input.plan)
                                  : Match{};
  };

  SequenceBuilder sequences;
  PositionCount positions;
  for (std::size_t position = 0; position < block_bytes; positions.next()) {
    const Match match = usable(position);
    const bool look_ahead = lazy_skip == 0 || match.length < lazy_skip;
    if (match.length == 0 || (look_ahead && usable(position + 1).length > match.length)) {
      sequences.literal();
      ++position;
    } else {
      sequences.match(match);
      position += match.length;
    }
  }
  return sequences.finish();
}

template std::vector<Sequence> parse_lazy(const BasicParseInput<MatchRecord>&, std::uint32_t);
template std::vector<Sequence> parse_lazy(const BasicParseInput<WideRecord>&, std::uint32_t);

}  // namespace hemstitch
