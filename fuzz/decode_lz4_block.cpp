// Any bytes as an LZ4 block with any history, into exactly as much room as the first bytes say: nothing
// outside of the output is written, and the size walk agrees with the decoder.
#include <cstdlib>

#include "device/registry.hpp"
#include "format/lz4/lz4_block_size.hpp"
#include "guarded_buffer.hpp"

using namespace hemstitch;
using hemstitch::testing::GuardedBuffer;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 4) return 0;
  const std::size_t capacity = data[0] | data[1] << 8;
  const std::size_t history_bytes = std::min<std::size_t>(data[2], size - 4);
  const std::span<const std::byte> rest(reinterpret_cast<const std::byte*>(data) + 4, size - 4);
  GuardedBuffer input(rest.subspan(history_bytes)), output(capacity);

  static const auto engine = BackendRegistry::instance().find_usable("cpu").make_engine();
  BlockTask task;
  task.history = rest.first(history_bytes);
  task.input = input.bytes();
  task.output = output.bytes();
  engine->restore({&task, 1}, Format::kLz4);
  if (task.status == Status::kOk && task.output_bytes > capacity) std::abort();
  if (task.status == Status::kOk && lz4_block_restored_bytes(task.input) != task.output_bytes) std::abort();
  return 0;
}
