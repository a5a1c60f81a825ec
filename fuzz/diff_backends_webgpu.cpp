// Batches of any blocks through `webgpu`, on the available driver (tools/fuzz selects one that runs on the
// processor), and `reference`. Both must give the same bytes and statuses when compressing and restoring.
#include "diff_backends.hpp"

using namespace hemstitch;
using namespace hemstitch::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider input(data, size);
  const bool compresses = input.ConsumeBool();
  const Batch batch = take_batch(input);
  static const auto webgpu = engine_of("webgpu"), reference = engine_of("reference");
  require(answers(*webgpu, batch, compresses) == answers(*reference, batch, compresses));
  return 0;
}
