// Any bytes as an LZ4 block, through the code with which the lanes of a warp find its sequences together. It
// must find the same sequences as a walk from the beginning.
#include "fuzz.hpp"
#include "lz4_walkers.hpp"

using namespace hemstitch;
using namespace hemstitch::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider input(data, size);
  const auto walkers = input.ConsumeIntegralInRange<std::uint32_t>(1, 64);
  const auto padding = input.ConsumeIntegral<std::uint8_t>();
  Bytes block = rest_of(input);
  for (std::size_t begin = 0; begin <= block.size(); begin += 1 + block.size() / 7) {
    require(testing::wrong_exits<testing::ShortLinks>(block, begin).empty());
    require(testing::wrong_exits<testing::LongLinks>(block, begin).empty());
  }
  block.resize(std::min<std::size_t>(block.size(), kLz4MostWalkedBytes));
  require(testing::wrong_walk(testing::PaddedBlock(block, padding), walkers).empty());
  return 0;
}
