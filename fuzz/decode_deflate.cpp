// Any bytes as DEFLATE, with any history, restored by the reference, by the processor's decoder, whole and in
// pieces, and by zlib. All must give the same verdict and the same bytes.
#include "deflate_streams.hpp"
#include "format/deflate/restore/deflate_restore.hpp"
#include "fuzz.hpp"
#include "guarded_buffer.hpp"

using namespace hemstitch;
using namespace hemstitch::fuzz;
using namespace hemstitch::testing;

namespace {

constexpr std::size_t kRoom = 100'000;  // as in zlib_verdict()

void require_in_pieces(StreamDecoder& decoder, std::span<const std::byte> data, const ZlibVerdict& expected,
                       std::size_t piece_bytes, std::size_t room_bytes) {
  Bytes content;
  Status status = Status::kTruncated;
  for (;;) {
    const std::size_t room_left = std::min(room_bytes, kRoom - content.size());
    GuardedBuffer input(data.first(std::min(piece_bytes, data.size()))), output(room_left);
    const StreamStep step = decoder.restore(input.bytes(), output.bytes());
    require(step.input_bytes <= input.bytes().size() && step.output_bytes <= room_left);
    data = data.subspan(step.input_bytes);
    content.insert(content.end(), output.bytes().begin(),
                   output.bytes().begin() + static_cast<std::ptrdiff_t>(step.output_bytes));
    if (step.status != Status::kOk) status = step.status;
    if (step.ended) status = Status::kOk;
    if (step.status != Status::kOk || step.ended) break;
    if (step.input_bytes == 0 && step.output_bytes == 0) break;
  }
  require(status == expected.status);
  require(content == expected.content);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider input(data, size);
  const std::size_t piece_bytes = input.ConsumeIntegralInRange<std::size_t>(1, 300);
  const std::size_t room_bytes = input.ConsumeIntegralInRange<std::size_t>(1, 1000);
  const Bytes history = take_bytes(input, 300);
  const Bytes stream = rest_of(input);

  const ZlibVerdict expected = zlib_verdict(stream, history);
  static DeflateDecoder whole({});
  for (const Against against : {Against::kUpperGuard, Against::kLowerGuard})
    for (const bool fast : {false, true}) {
      GuardedBuffer in(stream, against), before(history, against), out(kRoom, against);
      const DeflateRestored restored =
          fast ? whole.restore_whole(in.bytes(), before.bytes(), out.bytes())
               : deflate_restore_reference(in.bytes(), before.bytes(), out.bytes());
      // zlib does not distinguish a full output from an input that ends.
      require(restored.status == expected.status ||
              (restored.status == Status::kOutputTooSmall && expected.status == Status::kTruncated));
      require(std::ranges::equal(out.bytes().first(restored.output_bytes), expected.content));
      if (expected.status == Status::kOk) require(restored.input_bytes == expected.input_bytes);
    }
  DeflateReferenceDecoder slow(history);
  require_in_pieces(slow, stream, expected, piece_bytes, room_bytes);
  DeflateDecoder fast(history);
  require_in_pieces(fast, stream, expected, piece_bytes, room_bytes);
  return 0;
}
