// Any bytes as streams of DEFLATE, restored by CUDA's kernels on the processor: a warp, or a group of them,
// decodes segments from guesses. The verdict must be zlib's, and the status the reference decoder's. Nothing
// outside of stream and room may be touched.
#include "deflate_kernels.hpp"
#include "deflate_streams.hpp"
#include "fuzz.hpp"

using namespace hemstitch;
using namespace hemstitch::fuzz;
using namespace hemstitch::testing;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider input(data, size);
  // Large groups need 1024 fibers, so they are tested less often.
  const unsigned way = input.ConsumeIntegralInRange<unsigned>(0, 15);
  const Against against = input.ConsumeBool() ? Against::kUpperGuard : Against::kLowerGuard;
  const std::size_t lacking = input.ConsumeIntegralInRange<std::size_t>(0, 2);
  const Bytes history = take_bytes(input, 300);
  const Bytes first = take_bytes(input, 1000), second = rest_of(input);
  std::vector<KernelBlock> streams;
  std::vector<ZlibVerdict> verdicts;
  for (const Bytes* stream : {&first, &second}) {
    verdicts.push_back(zlib_verdict(*stream, history));
    const std::size_t bytes = verdicts.back().content.size();
    streams.push_back({*stream, history, bytes - std::min(bytes, lacking)});
  }
  using cuda::DeflateWay;
  const auto restored = restored_by_deflate_kernels(streams,
                                                    way == 0  ? DeflateWay::kFewest
                                                    : way < 4 ? DeflateWay::kFew
                                                              : DeflateWay::kMany,
                                                    against);
  for (std::size_t i = 0; i < streams.size(); ++i) {
    const RestoredByKernel expected = restored_by_deflate_reference(streams[i]);
    require(restored[i].status == expected.status && restored[i].content == expected.content);
    const bool sound = verdicts[i].status == Status::kOk &&
                       verdicts[i].input_bytes == streams[i].data.size() &&
                       verdicts[i].content.size() <= streams[i].capacity;
    require((restored[i].status == HEMSTITCH_OK) == sound);
    if (sound) require(restored[i].content == verdicts[i].content);
  }
  return 0;
}
