// Any bytes as DEFLATE, or as consecutive gzip members, restored by several threads in tiny pieces, and by
// the decoder for one thread. Both must give the same verdict, the same bytes and the same end. Content may
// be lent; it must not change until it is given back.
#include <deque>
#include <memory>

#include "format/deflate/restore/deflate_restore.hpp"
#include "format/deflate/stream/deflate_parallel_decoder.hpp"
#include "fuzz.hpp"
#include "guarded_buffer.hpp"

using namespace hemstitch;
using namespace hemstitch::fuzz;
using namespace hemstitch::testing;

namespace {

constexpr std::size_t kRoom = 1'000'000;  // content is restored up to here
constexpr std::size_t kMostSteps = 2000;  // each step maps guard pages, so there are no more than these
constexpr unsigned kLoans = 3;            // how many are kept at once

// Lent content, and its place in the whole content.
struct Loan {
  std::shared_ptr<const std::byte> owner;
  std::span<const std::byte> lent;
  std::size_t at;
};

// Lent content must not change before it is given back.
void give_back(const Loan& loan, const Bytes& content) {
  require(
      std::equal(loan.lent.begin(), loan.lent.end(), content.begin() + static_cast<std::ptrdiff_t>(loan.at)));
}

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
  std::deque<Loan> loans;
  std::span<const std::byte> left = data;
  GuardedBuffer output(room_bytes);
  while (outcome.content.size() < most_bytes) {
    GuardedBuffer input(left.first(std::min(piece_bytes, left.size())));
    const StreamStep step = decoder.restore(input.bytes(), output.bytes());
    require(step.input_bytes <= input.bytes().size());
    left = left.subspan(step.input_bytes);
    if (step.lent.empty()) {
      require(step.output_bytes <= room_bytes);
      const auto content = output.bytes().first(step.output_bytes);
      outcome.content.insert(outcome.content.end(), content.begin(), content.end());
    } else {
      require(step.lent.size() == step.output_bytes && step.owner != nullptr);
      loans.push_back({step.owner, step.lent, outcome.content.size()});
      outcome.content.insert(outcome.content.end(), step.lent.begin(), step.lent.end());
      if (loans.size() > kLoans) give_back(loans.front(), outcome.content), loans.pop_front();
    }
    outcome.detail = step.detail;
    if (step.status != Status::kOk) outcome.status = step.status;
    if (step.ended) outcome.status = Status::kOk;
    if (step.status != Status::kOk || step.ended) break;
    require(step.input_bytes != 0 || step.output_bytes != 0 || left.empty());
    if (step.input_bytes == 0 && step.output_bytes == 0) break;
  }
  for (const Loan& loan : loans) give_back(loan, outcome.content);
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
  DeflateParallelLimits limits;
  limits.threads = input.ConsumeIntegralInRange<unsigned>(2, 4);
  limits.pieces = input.ConsumeIntegralInRange<std::size_t>(3, 8);
  limits.piece_bytes = input.ConsumeIntegralInRange<std::size_t>(16, 4096);
  limits.overlap_bytes = input.ConsumeIntegralInRange<std::size_t>(1, limits.piece_bytes);
  limits.content_bytes = input.ConsumeIntegralInRange<std::size_t>(60'000, 400'000);
  limits.begin_bytes = 1;
  // 0 bytes are never lent.
  limits.lent_bytes = input.ConsumeIntegralInRange<std::size_t>(0, 2000);
  limits.contents_bytes = input.ConsumeIntegralInRange<std::uint64_t>(0, 4'000'000);
  const bool members = input.ConsumeBool();
  const std::size_t piece_bytes = input.ConsumeIntegralInRange<std::size_t>(1, 3000);
  const std::size_t room_bytes = input.ConsumeIntegralInRange<std::size_t>(1, 5000);
  const Bytes history = take_bytes(input, 300);
  const Bytes stream = rest_of(input);

  DeflateDecoder serial(history);
  DeflateParallelDecoder parallel(history, members, limits);
  if (limits.lent_bytes != 0) parallel.lend_content();
  std::span<const std::byte> left = stream;
  Outcome expected = restored_by(serial, left, piece_bytes, room_bytes);
  require(restored_by(parallel, left, piece_bytes, room_bytes) == expected);
  // Another stream follows the end, after so many bytes.
  constexpr std::size_t kBetweenBytes = 18;
  std::size_t taken = expected.end + static_cast<std::size_t>(parallel.ahead_bytes());
  for (unsigned i = 0; i < 8 && expected.status == Status::kOk; ++i) {
    left = left.subspan(expected.end);
    taken -= expected.end;
    if (left.size() < kBetweenBytes) break;
    Bytes between(kBetweenBytes);
    const std::size_t ahead = parallel.read_ahead(between);
    require(std::equal(between.begin(), between.begin() + static_cast<std::ptrdiff_t>(ahead), left.begin()));
    left = left.subspan(kBetweenBytes);
    taken = std::max(taken, kBetweenBytes) - kBetweenBytes;
    require(taken == parallel.ahead_bytes() && parallel.begin_next({}));
    serial.begin({}, std::byte{0}, 0);
    expected = restored_by(serial, left, piece_bytes, room_bytes);
    // The decoder has taken some of it already.
    Outcome found = restored_by(parallel, left.subspan(taken), piece_bytes, room_bytes);
    if (found.status == Status::kOk) found.end += taken;
    require(found == expected);
    taken = expected.end + static_cast<std::size_t>(parallel.ahead_bytes());
  }
  return 0;
}
