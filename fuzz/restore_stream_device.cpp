// Any bytes as DEFLATE, or as consecutive gzip members, restored in tiny pieces by a simulated device that
// fails now and then, and by the decoder for one thread. Both must give the same verdict, the same bytes and
// the same end.
#include "format/deflate/restore/deflate_restore.hpp"
#include "format/deflate/stream/deflate_device_decoder.hpp"
#include "fuzz.hpp"
#include "guarded_buffer.hpp"
#include "processor_pieces.hpp"

using namespace hemstitch;
using namespace hemstitch::fuzz;
using namespace hemstitch::testing;

namespace {

constexpr std::size_t kRoom = 100'000;    // content is restored up to here
constexpr std::size_t kMostSteps = 2000;  // each step maps guard pages, so there are no more than these

struct Outcome {
  Status status = Status::kTruncated;
  std::string_view detail = {};
  Bytes content = {};
  std::size_t end = 0;
  bool operator==(const Outcome&) const = default;
};

Outcome restored_by(StreamDecoder& decoder, std::span<const std::byte> data, std::size_t piece_bytes,
                    std::size_t room_bytes) {
  const std::size_t most_bytes = std::min(kRoom, kMostSteps * room_bytes);
  Outcome outcome;
  std::span<const std::byte> left = data;
  GuardedBuffer output(room_bytes);
  while (outcome.content.size() < most_bytes) {
    GuardedBuffer input(left.first(std::min(piece_bytes, left.size())));
    const StreamStep step = decoder.restore(input.bytes(), output.bytes());
    require(step.input_bytes <= input.bytes().size() && step.output_bytes <= room_bytes);
    left = left.subspan(step.input_bytes);
    outcome.detail = step.detail;
    if (step.status != Status::kOk) outcome.status = step.status;
    if (step.ended) outcome.status = Status::kOk;
    decoder.settle(decoder.under_way());
    outcome.content.insert(outcome.content.end(), output.bytes().begin(),
                           output.bytes().begin() + static_cast<std::ptrdiff_t>(step.output_bytes));
    if (step.status != Status::kOk || step.ended) break;
    require(step.input_bytes != 0 || step.output_bytes != 0 || step.wants_input || left.empty());
    if (step.input_bytes == 0 && step.output_bytes == 0 && !step.wants_input) break;
  }
  if (outcome.content.size() > most_bytes) outcome.content.resize(most_bytes);
  // If only a part of the content is known, the end is not known either.
  if (outcome.content.size() < most_bytes && outcome.status == Status::kOk)
    outcome.end = data.size() - left.size() - static_cast<std::size_t>(decoder.ahead_bytes());
  if (outcome.content.size() == most_bytes) outcome.status = Status::kOutputTooSmall;
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider input(data, size);
  DeflateDeviceLimits limits;
  limits.piece_bytes = input.ConsumeIntegralInRange<std::size_t>(300, 4096);
  limits.first_piece_bytes = input.ConsumeIntegralInRange<std::size_t>(100, limits.piece_bytes);
  limits.lead_bytes = input.ConsumeIntegralInRange<std::size_t>(1, limits.piece_bytes);
  limits.content_bytes = input.ConsumeIntegralInRange<std::size_t>(1000, 100'000);
  limits.serial_bytes = input.ConsumeIntegralInRange<std::size_t>(1, 2000);
  limits.begin_bytes = input.ConsumeIntegralInRange<std::size_t>(0, 500);
  DeviceTrouble trouble;
  trouble.follows_members = input.ConsumeBool();
  trouble.most_blocks = input.ConsumeIntegralInRange<std::size_t>(1, 20);
  for (std::set<unsigned>* const calls :
       {&trouble.uploads, &trouble.carries, &trouble.restores, &trouble.downloads, &trouble.waits,
        &trouble.nothing, &trouble.nonsense})
    if (input.ConsumeIntegralInRange<unsigned>(0, 9) == 0)
      calls->insert(input.ConsumeIntegralInRange<unsigned>(1, 8));
  const bool members = input.ConsumeBool();
  const std::size_t piece_bytes = input.ConsumeIntegralInRange<std::size_t>(1, 3000);
  const std::size_t room_bytes = input.ConsumeIntegralInRange<std::size_t>(1, 5000);
  const Bytes history = take_bytes(input, 300);
  const Bytes stream = rest_of(input);

  DeflateDecoder serial(history);
  StreamMeans means;
  means.settles = true;
  DeflateDeviceDecoder device(std::make_unique<ProcessorPieces>(limits, trouble), history, members, means,
                              limits);
  std::span<const std::byte> left = stream;
  Outcome expected = restored_by(serial, left, piece_bytes, room_bytes);
  require(restored_by(device, left, piece_bytes, room_bytes) == expected);
  // Another stream follows the end, after so many bytes.
  constexpr std::size_t kBetweenBytes = 18;
  std::size_t taken = expected.end + static_cast<std::size_t>(device.ahead_bytes());
  for (unsigned i = 0; i < 8 && expected.status == Status::kOk; ++i) {
    left = left.subspan(expected.end);
    taken -= expected.end;
    if (left.size() < kBetweenBytes) break;
    Bytes between(kBetweenBytes);
    const std::size_t ahead = device.read_ahead(between);
    require(std::equal(between.begin(), between.begin() + static_cast<std::ptrdiff_t>(ahead), left.begin()));
    left = left.subspan(kBetweenBytes);
    taken = std::max(taken, kBetweenBytes) - kBetweenBytes;
    require(taken == device.ahead_bytes() && device.begin_next({}));
    serial.begin({}, std::byte{0}, 0);
    expected = restored_by(serial, left, piece_bytes, room_bytes);
    // The decoder has taken some of it already.
    Outcome found = restored_by(device, left.subspan(taken), piece_bytes, room_bytes);
    if (found.status == Status::kOk) found.end += taken;
    require(found == expected);
    taken = expected.end + static_cast<std::size_t>(device.ahead_bytes());
  }
  return 0;
}
