// Any bytes, any history and level: zlib restores what the twins of DEFLATE write, in room that they say suffices, and nothing is written
// where the room does not.
#include "format/deflate/compress/deflate_compress_reference.hpp"
#include "fuzz.hpp"
#include "guarded_buffer.hpp"
#include "zlib_oracle.hpp"

using namespace hemstitch;
using namespace hemstitch::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider input(data, size);
  const DeflateLevel level = deflate_level(input.ConsumeIntegralInRange(kMinLevel, kMaxLevel));
  // Repeating the input crosses chunks without long inputs.
  const std::size_t repeats = input.ConsumeBool() ? input.ConsumeIntegralInRange<std::size_t>(1, 300) : 1;
  const auto history_sixteenths = input.ConsumeIntegralInRange<std::size_t>(0, 16);
  const auto missing_bytes = input.ConsumeIntegralInRange<std::size_t>(1, 8);
  const Bytes piece = rest_of(input);
  Bytes bytes;
  for (std::size_t i = 0; i < repeats && bytes.size() < 140'000; i++)
    bytes.insert(bytes.end(), piece.begin(), piece.end());

  const std::size_t history =
      std::min<std::size_t>(bytes.size() * history_sixteenths / 16, kDeflateWindowBytes);
  const FinderInput block{bytes, history};
  const auto content = std::span<const std::byte>(bytes).subspan(history);
  testing::GuardedBuffer room(deflate_data_room(content.size()));
  const EncodedBlock last = compress_deflate_block_reference(block, level, DeflateEnd::kFinal, room.bytes());
  require(last.status == Status::kOk);
  const auto restored = testing::inflated_by_zlib(room.bytes().first(last.bytes), testing::ZlibKind::kDeflate,
                                                  std::span<const std::byte>(bytes).first(history));
  require(restored && std::ranges::equal(*restored, content));

  if (missing_bytes > last.bytes) return 0;
  testing::GuardedBuffer small(last.bytes - missing_bytes);
  require(compress_deflate_block_reference(block, level, DeflateEnd::kFinal, small.bytes()).status ==
          Status::kOutputTooSmall);
  return 0;
}
