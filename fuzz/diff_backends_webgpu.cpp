// Batches of any blocks through `webgpu`, on the available driver (tools/fuzz selects one that runs on the
// processor), and `reference`. Both must give the same bytes and statuses when compressing and restoring; of Zstandard, devices
// may leave blocks to others.
#include "diff_backends.hpp"

using namespace hemstitch;
using namespace hemstitch::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider input(data, size);
  const bool compresses = input.ConsumeBool(), is_zstd = input.ConsumeBool();
  Batch batch = take_batch(input);
  if (is_zstd) batch.format = Format::kZstd;
  static const auto webgpu = engine_of("webgpu"), reference = engine_of("reference");
  const std::vector<Answer> expected = answers(*reference, batch, compresses);
  std::vector<Answer> got = answers(*webgpu, batch, compresses);
  if (is_zstd && !compresses)
    for (std::size_t i = 0; i < got.size(); ++i)
      if (got[i].status == Status::kDeviceFault) got[i] = expected[i];
  require(got == expected);
  return 0;
}
