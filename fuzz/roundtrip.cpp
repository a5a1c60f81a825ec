// Any bytes, any options: what is compressed must restore to the same bytes, with either backend and with
// liblz4.
#include "fuzz.hpp"
#include "lz4f_oracle.hpp"

using namespace hemstitch;
using namespace hemstitch::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider input(data, size);
  const unsigned choices = input.ConsumeIntegral<std::uint8_t>();
  CompressOptions options;
  options.backend = choices & 1 ? "reference" : "cpu";
  options.level = input.ConsumeIntegralInRange(kMinLevel, kMaxLevel);
  options.acceleration = (choices & 128) != 0 && options.level == 1 ? input.ConsumeIntegralInRange(0, 20) : 0;
  options.block_bytes = 64 * 1024;
  options.linked_blocks = choices & 2;
  options.block_checksums = choices & 4;
  options.content_checksum = choices & 8;
  options.threads = 1;
  // Repeated input crosses block boundaries although it is short.
  const std::size_t repeats = choices & 16 ? input.ConsumeIntegralInRange<std::size_t>(1, 300) : 1;
  const Bytes dictionary = choices & 32 ? take_bytes(input, 300) : Bytes{};
  options.dictionary = dictionary;
  const Bytes piece = rest_of(input);
  Bytes content;
  for (std::size_t i = 0; i < repeats && content.size() < 70000; i++)
    content.insert(content.end(), piece.begin(), piece.end());

  const Bytes frame = compress(content, options);
  RestoreOptions back;
  back.threads = 1;
  back.dictionary = dictionary;
  for (const char* backend : {"cpu", "reference"}) {
    back.backend = backend;
    require(restore(frame, back) == content);
  }
  require(testing::lz4f_restore(frame, dictionary) == content);
  return 0;
}
