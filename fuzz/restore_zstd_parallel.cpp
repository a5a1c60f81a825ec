// Any bytes as a frame of Zstandard, perhaps with a dictionary, restored by several threads, a block each, and by the reference: the same verdict, message,
// content and place. Content may be lent; it must not change until it is given back.
#include <deque>
#include <memory>

#include "format/zstd/stream/zstd_parallel_decoder.hpp"
#include "fuzz.hpp"
#include "zstd_frames.hpp"

using namespace hemstitch;
using namespace hemstitch::fuzz;
using namespace hemstitch::testing;

namespace {

// Keeps what the decoder lends, as long as it may, and looks at it again.
class Borrower : public StreamDecoder {
 public:
  Borrower(std::uint64_t window_bytes, const ZstdParallelLimits& limits, const ZstdDictionary& before)
      : decoder_(window_bytes, limits, before), most_loans_(limits.loans) {
    if (most_loans_ != 0) decoder_.lend_content();
  }

  StreamStep restore(std::span<const std::byte> input, std::span<std::byte> output) override {
    const StreamStep step = decoder_.restore(input, output);
    require(step.input_bytes <= input.size());
    if (step.lent.empty()) {
      require(step.output_bytes <= output.size());
      return step;
    }
    require(step.lent.size() == step.output_bytes && step.owner != nullptr);
    loans_.push_back({step.owner, step.lent, Bytes(step.lent.begin(), step.lent.end())});
    if (loans_.size() == most_loans_) {
      require(std::ranges::equal(loans_.front().lent, loans_.front().content));
      loans_.pop_front();
    }
    return step;
  }
  std::uint64_t ahead_bytes() const override { return decoder_.ahead_bytes(); }

 private:
  struct Loan {
    std::shared_ptr<const std::byte> owner;
    std::span<const std::byte> lent;
    Bytes content;
  };

  ZstdParallelDecoder decoder_;
  std::size_t most_loans_;
  std::deque<Loan> loans_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kMostBytes = 1000;  // four of them may be 128 KB of content
  if (size > kMostBytes) return -1;
  FuzzedDataProvider input(data, size);
  ZstdParallelLimits limits;
  limits.threads = input.ConsumeIntegralInRange(1U, 3U);
  limits.loans = input.ConsumeIntegralInRange(0U, 3U);
  limits.groups = input.ConsumeIntegralInRange<std::size_t>(1, 4);
  limits.group_bytes = 1;
  limits.group_blocks = input.ConsumeIntegralInRange<std::size_t>(1, 3);
  limits.begin_groups = input.ConsumeIntegralInRange(0U, 1U);
  limits.lent_bytes = input.ConsumeIntegralInRange<std::size_t>(1, 3000);
  const std::size_t piece_bytes = input.ConsumeIntegralInRange<std::size_t>(1, 300);
  constexpr std::size_t kMostDictionaryBytes = 300;
  const auto dictionary_bytes = input.ConsumeIntegralInRange<std::size_t>(0, kMostDictionaryBytes);
  const auto dictionary = input.ConsumeBytes<std::byte>(dictionary_bytes);
  const Bytes frame = rest_of(input);

  const ZstdRead expected = read_by_reference(frame, dictionary, piece_bytes);
  const ZstdRead read = read_in_pieces(frame, dictionary, piece_bytes,
                                       [&](std::uint64_t window_bytes, const ZstdDictionary& before) {
                                         return std::make_unique<Borrower>(window_bytes, limits, before);
                                       });
  require(read.outcome == expected.outcome);
  // Whoever counts the content says this, between two pieces.
  const std::string counted = "content size";
  if (read.why != counted && expected.why != counted)
    require(read.why == expected.why && read.content == expected.content &&
            read.used_bytes == expected.used_bytes);
  return 0;
}
