#include "format/staged_batch_webgpu.hpp"

#include "format/encoded_size_webgpu.hpp"

namespace hemstitch::webgpu {
namespace {

BatchOutput encoded_output(std::span<const std::byte> results) {
  std::vector<std::uint32_t> words(results.size() / sizeof(std::uint32_t));
  std::memcpy(words.data(), results.data(), words.size() * sizeof(std::uint32_t));
  const std::size_t count = words.size() / 2;  // a size and a beginning for each, and the end
  BatchOutput output{{}, words.back()};
  for (std::size_t i = 0; i < count; ++i) {
    if (words[i] == kEncodedTooLarge)
      output.blocks.push_back({Status::kOutputTooSmall, 0, 0});
    else
      output.blocks.push_back({Status::kOk, words[count + i], words[i]});
  }
  return output;
}

}  // namespace

void set_encoded(StagedBatch& staged, BufferId sizes, BufferId begins, BufferId output,
                 std::uint64_t most_output_bytes) {
  const std::uint64_t bytes = staged.begins.size() * sizeof(std::uint32_t);
  staged.results = {{sizes, bytes}, {begins, bytes + sizeof(std::uint32_t)}};
  staged.output = output;
  staged.most_output_bytes = most_output_bytes;
  staged.is_packed = true;
  staged.read_results = encoded_output;
}

}  // namespace hemstitch::webgpu
