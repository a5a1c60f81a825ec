// Any bytes as an LZ4 block, with any history, restored into exactly as much room as was asked for: by the
// reference decoder, by the processor's decoder, and by liblz4. Nothing outside of the output may be written.
// The walk that determines sizes must agree.
#include <lz4.h>

#include "format/lz4/block/lz4_block_size.hpp"
#include "format/lz4/restore/lz4_restore.hpp"
#include "fuzz.hpp"
#include "guarded_buffer.hpp"
#include "lz4_differences.hpp"

using namespace hemstitch;
using namespace hemstitch::fuzz;
using namespace hemstitch::testing;

namespace {

struct Decoded {
  Status status = Status::kInternal;
  std::optional<Bytes> content;
  friend bool operator==(const Decoded&, const Decoded&) = default;
};

Decoded content_of(const DecodedBlock& decoded, std::span<const std::byte> output) {
  require(decoded.status == Status::kOk || decoded.status == Status::kCorruptBlock ||
          decoded.status == Status::kOutputTooSmall);
  if (decoded.status != Status::kOk) return {decoded.status, std::nullopt};
  require(decoded.bytes <= output.size());
  return {decoded.status, Bytes(output.begin(), output.begin() + static_cast<std::ptrdiff_t>(decoded.bytes))};
}

template <class Decoder>
Decoded decode(const Decoder& decoder, std::span<const std::byte> block, std::span<const std::byte> history,
               std::size_t room, Against against) {
  GuardedBuffer input(block, against), before(history, against), output(room, against);
  return content_of(decoder(input.bytes(), before.bytes(), output.bytes()), output.bytes());
}

// The history is directly before the output.
Decoded decode_behind(std::span<const std::byte> block, std::span<const std::byte> history,
                      std::size_t room) {
  GuardedBuffer input(block), both(history.size() + room);
  std::ranges::copy(history, both.bytes().begin());
  const auto output = both.bytes().subspan(history.size());
  const Decoded decoded =
      content_of(restore_lz4_block(input.bytes(), both.bytes().first(history.size()), output), output);
  require(std::ranges::equal(history, both.bytes().first(history.size())));
  return decoded;
}

std::optional<Bytes> by_liblz4(std::span<const std::byte> block, std::span<const std::byte> history,
                               std::size_t room) {
  GuardedBuffer input(block), before(history), output(room);
  const int written = LZ4_decompress_safe_usingDict(
      reinterpret_cast<const char*>(input.bytes().data()), reinterpret_cast<char*>(output.bytes().data()),
      static_cast<int>(block.size()), static_cast<int>(room),
      reinterpret_cast<const char*>(before.bytes().data()), static_cast<int>(history.size()));
  if (written < 0) return std::nullopt;
  return Bytes(output.bytes().begin(), output.bytes().begin() + written);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider input(data, size);
  const std::size_t extra_room = input.ConsumeIntegralInRange<std::size_t>(0, 300);
  const bool exact_room = input.ConsumeBool();
  const Bytes history = take_bytes(input, 1000);
  const Bytes block = rest_of(input);

  const Lz4BlockFacts facts = lz4_block_facts(block);
  const auto size_walk = lz4_block_restored_bytes(block);
  require(size_walk.has_value() == facts.adds_up);
  if (size_walk) require(*size_walk == facts.restored_bytes);

  // The room is exactly what the block restores to, if that is not absurd, or any other size.
  const std::size_t room =
      exact_room ? static_cast<std::size_t>(std::min<std::uint64_t>(facts.restored_bytes, 1 << 20))
                 : extra_room;
  const Decoded ours = decode(restore_lz4_block_reference, block, history, room, Against::kUpperGuard);
  require(ours == decode(restore_lz4_block_reference, block, history, room, Against::kLowerGuard));
  require(ours == decode(restore_lz4_block, block, history, room, Against::kUpperGuard));
  require(ours == decode(restore_lz4_block, block, history, room, Against::kLowerGuard));
  require(ours == decode_behind(block, history, room));
  require(lz4_block_as_meant(block, room, ours.content, by_liblz4(block, history, room)));
  return 0;
}
