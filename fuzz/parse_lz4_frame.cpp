// Any bytes through the frame parser, in three ways that must agree: with the data of every block; with
// blocks skipped, as ranges do it; and from a stream that ends earlier, which must not change what came
// before. A header that is written from an accepted header must say the same.
#include <random>

#include "format/lz4/frame/lz4_frame.hpp"
#include "fuzz.hpp"

using namespace hemstitch;
using namespace hemstitch::fuzz;

namespace {

using Event = Lz4FrameParser::Event;

// What the parser reported, as numbers.
struct Told {
  std::vector<std::vector<std::uint64_t>> events;
  std::optional<Status> failure;
};

std::uint64_t number_of(std::optional<std::uint64_t> value) { return value ? *value + 1 : 0; }

std::vector<std::uint64_t> numbers_of(Event event, const Lz4FrameParser& parser) {
  const FrameHeader& header = parser.header();
  const Lz4FrameParser::Block& block = parser.block();
  return {static_cast<std::uint64_t>(event),
          parser.position(),
          parser.frame_number(),
          parser.frame_at(),
          header.legacy,
          header.block_kind == BlockKind::kLinked,
          header.block_bytes,
          block.data_bytes,
          block.stored,
          block.number,
          block.at,
          number_of(header.content_bytes),
          number_of(header.dictionary_id),
          parser.skip_bytes()};
}

// `passes(n)` says whether block n is skipped instead of given to the parser.
template <class Passes>
Told listen(std::span<const std::byte> stream, bool verify, const Passes& passes) {
  Told told;
  Lz4FrameParser parser(verify);
  std::size_t at = 0, block = 0;
  bool in_block = false;
  try {
    for (;;) {
      const std::span<const std::byte> bytes =
          stream.subspan(at, std::min(parser.wanted_bytes(), stream.size() - at));
      Event event = Event::kBlockEnd;
      if (in_block && passes(block++))
        parser.block_skipped(bytes.size());
      else
        event = parser.step(bytes);
      in_block = event == Event::kBlockBegin;
      at += bytes.size();
      // Bytes that are there move the parser's position, or are held.
      require(parser.position() + parser.held_bytes() == at);
      require(parser.wanted_bytes() <= kMaxLegacyBlockDataBytes + kBlockChecksumBytes);
      if (event == Event::kMore) continue;
      told.events.push_back(numbers_of(event, parser));
      if (event == Event::kEnd || event == Event::kGarbage) return told;
      if (event == Event::kSkip) {
        const std::size_t skipped = std::min<std::size_t>(parser.skip_bytes(), stream.size() - at);
        at += skipped;
        parser.skipped(skipped);
      }
    }
  } catch (const Error& error) {
    require(error.status() == Status::kTruncated || error.status() == Status::kUnknownFormat ||
            error.status() == Status::kForeignFormat || error.status() == Status::kUnsupportedVersion ||
            error.status() == Status::kUnsupportedFeature || error.status() == Status::kCorruptHeader ||
            error.status() == Status::kCorruptBlock || error.status() == Status::kHeaderChecksumMismatch);
    require(error.place().byte_offset && *error.place().byte_offset <= stream.size());
    told.failure = error.status();
    return told;
  }
}

// An accepted header must be the same after it was written and read again.
void require_written_header(std::span<const std::byte> stream) {
  Lz4FrameParser parser(true);
  std::size_t at = 0;
  try {
    for (Event event = Event::kMore; event == Event::kMore;) {
      const std::size_t bytes = std::min(parser.wanted_bytes(), stream.size() - at);
      event = parser.step(stream.subspan(at, bytes));
      at += bytes;
      if (event == Event::kSkip) return;
    }
  } catch (const Error&) {
    return;
  }
  if (parser.frame_number() != 1 || parser.header().legacy) return;
  const Bytes header = write_lz4_frame_header(parser.header());
  require(std::equal(header.begin(), header.end(), stream.begin(),
                     stream.begin() + static_cast<std::ptrdiff_t>(at)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> stream(reinterpret_cast<const std::byte*>(data), size);
  std::mt19937 random(lz4_checksum(stream));
  for (const bool verify : {true, false}) {
    const Told told = listen(stream, verify, [](std::size_t) { return false; });

    const auto mask = static_cast<std::uint32_t>(random());
    const Told passed =
        listen(stream, verify, [&](std::size_t block) { return (mask >> block % 32 & 1) != 0; });
    require(passed.events == told.events && passed.failure == told.failure);

    const Told shorter =
        listen(stream.first(size == 0 ? 0 : random() % size), verify, [](std::size_t) { return false; });
    const std::size_t common = std::min(shorter.events.size(), told.events.size());
    // The last two events may come from the end of the stream.
    for (std::size_t i = 0; i + 2 < common; ++i) require(shorter.events[i] == told.events[i]);
  }
  require_written_header(stream);
  return 0;
}
