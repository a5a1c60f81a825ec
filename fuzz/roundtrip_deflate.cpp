// Any bytes, with any history and level: zlib must restore what the twins of DEFLATE write. The room that
// they ask for must suffice. If there is less, they must say so, and write nothing outside of it.
#include "format/deflate/compress/deflate_compress_reference.hpp"
#include "fuzz.hpp"
#include "guarded_buffer.hpp"
#include "zlib_oracle.hpp"

using namespace hemstitch;
using namespace hemstitch::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider input(data, size);
  const DeflateLevel level = deflate_level(input.ConsumeIntegralInRange(kMinLevel, kMaxLevel));
  // Repeated input crosses chunks although it is short.
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
