// Compresses any bytes on the processor, with any history and level, in two parts. Each part must fit into
// the room that it was given, and zlib must restore the whole.
#include "format/deflate/block/deflate_stored.hpp"
#include "format/deflate/block/deflate_symbols.hpp"
#include "format/deflate/compress/deflate_compress_cpu.hpp"
#include "fuzz.hpp"
#include "guarded_buffer.hpp"
#include "zlib_oracle.hpp"

using namespace hemstitch;
using namespace hemstitch::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider input(data, size);
  const int level = input.ConsumeIntegralInRange(kMinLevel, kMaxLevel);
  const std::size_t repeats = input.ConsumeBool() ? input.ConsumeIntegralInRange<std::size_t>(1, 300) : 1;
  const auto history_sixteenths = input.ConsumeIntegralInRange<std::size_t>(0, 15);
  const auto cut_sixteenths = input.ConsumeIntegralInRange<std::size_t>(0, 15);
  const Bytes piece = rest_of(input);
  Bytes bytes;
  for (std::size_t i = 0; i < repeats && bytes.size() < 140'000; i++)
    bytes.insert(bytes.end(), piece.begin(), piece.end());
  if (bytes.empty()) return 0;

  const auto all = std::span<const std::byte>(bytes);
  const std::size_t history =
      std::min<std::size_t>(all.size() * history_sixteenths / 16, kDeflateWindowBytes);
  const std::size_t cut = history + (all.size() - history) * cut_sixteenths / 16;
  static DeflateCompressorCpu compressor;
  Bytes stream;
  const auto add = [&](std::size_t begin, std::size_t end, bool is_last) {
    if (begin == end) return;
    const std::size_t before = std::min<std::size_t>(begin, kDeflateWindowBytes);
    testing::GuardedBuffer room(deflate_data_room(end - begin));
    const std::size_t written = compressor.compress(
        all.subspan(begin, end - begin), all.subspan(begin - before, before), level, is_last, room.bytes());
    const auto part = room.bytes().first(written);
    stream.insert(stream.end(), part.begin(), part.end());
  };
  add(history, cut, false);
  add(cut, all.size(), true);
  const auto restored = testing::inflated_by_zlib(stream, testing::ZlibKind::kDeflate, all.first(history));
  require(restored && std::ranges::equal(*restored, all.subspan(history)));
  return 0;
}
