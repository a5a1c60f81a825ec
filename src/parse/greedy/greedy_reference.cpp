#include "core/between_pieces.hpp"
#include "parse/greedy/greedy.hpp"

namespace hemstitch {

template <typename Record>
std::vector<Sequence> parse_greedy(const BasicParseInput<Record>& input) {
  const std::size_t block_bytes = input.records.size();
  SequenceBuilder sequences;
  PositionCount positions;
  for (std::size_t position = 0; position < block_bytes; positions.next()) {
    const Match match = usable_match(input.records[position], position, block_bytes, input.plan);
    if (match.length == 0) {
      sequences.literal();
      ++position;
    } else {
      sequences.match(match);
      position += match.length;
    }
  }
  return sequences.finish();
}

template std::vector<Sequence> parse_greedy(const BasicParseInput<MatchRecord>&);
template std::vector<Sequence> parse_greedy(const BasicParseInput<WideRecord>&);

}  // namespace hemstitch
