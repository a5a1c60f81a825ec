// Any bytes as a chunk of an array, of each container: its layout lies inside of it and fills its content, and restoring touches
// nothing outside of chunk and content. What is restored is the same by one thread and by several.
#include "fuzz.hpp"
#include "guarded_buffer.hpp"
#include "hemstitch/arrays.hpp"

using namespace hemstitch;
using namespace hemstitch::fuzz;
using namespace hemstitch::testing;

namespace {

void require_sound(const ChunkLayout& layout, std::size_t chunk_bytes) {
  std::uint64_t at = 0;
  for (const ChunkBlock& block : layout.blocks) {
    require(block.content_begin == at && block.content_bytes != 0);
    require(block.begin <= chunk_bytes && block.bytes <= chunk_bytes - block.begin);
    require(!block.stored || block.bytes == block.content_bytes);
    at += block.content_bytes;
  }
  require(at == layout.content_bytes && layout.filtered_end <= at);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider input(data, size);
  ChunkCoding coding;
  coding.container = static_cast<ChunkContainer>(input.ConsumeIntegralInRange<int>(1, 3));
  coding.element_bytes = input.ConsumeIntegralInRange<std::uint32_t>(1, 255);
  if (coding.container == ChunkContainer::kHdf5Bitshuffle && input.ConsumeBool())
    coding.format = Format::kZstd;
  const Against against = input.ConsumeBool() ? Against::kUpperGuard : Against::kLowerGuard;
  const Bytes chunk = rest_of(input);
  std::uint64_t content_bytes = 0;
  try {
    content_bytes = chunk_content_bytes(chunk, coding);
  } catch (const Error& error) {
    require(error.status() != Status::kInternal);
    return 0;
  }
  // Blosc 2 has no layout, and more headers inside.
  bool has_layout = false;
  try {
    const ChunkLayout layout = chunk_layout(chunk, coding);
    require_sound(layout, chunk.size());
    require(layout.content_bytes == content_bytes);
    has_layout = true;
  } catch (const Error& error) {
    require(error.status() == Status::kUnsupportedFeature);
  }
  if (content_bytes > 1 << 20) return 0;
  std::array<Bytes, 2> restored;
  for (unsigned threads = 1; threads <= 2; ++threads) {
    GuardedBuffer given(chunk, against), output(content_bytes, against);
    ArrayChunk one{.input = given.bytes(), .output = output.bytes()};
    RestoreOptions options;
    options.threads = threads;
    restore_chunks({&one, 1}, coding, options);
    require(one.status == Status::kOk || one.status == Status::kCorruptBlock ||
            (!has_layout && one.status != Status::kInternal));
    require((one.status == Status::kOk) == one.message.empty());
    if (one.status == Status::kOk) restored[threads - 1].assign(output.bytes().begin(), output.bytes().end());
  }
  require(restored[0] == restored[1]);
  return 0;
}
