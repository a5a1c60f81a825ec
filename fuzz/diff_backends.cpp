// Batches of any blocks through `cpu` and `reference`. Each must restore what the other compressed. Any bytes
// as blocks must restore to the same bytes and statuses.
#include "diff_backends.hpp"

using namespace hemstitch;
using namespace hemstitch::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider input(data, size);
  const bool compresses = input.ConsumeBool();
  const Batch batch = take_batch(input);
  static const auto cpu = engine_of("cpu"), reference = engine_of("reference");
  if (!compresses) {
    require(answers(*cpu, batch, false) == answers(*reference, batch, false));
    return 0;
  }
  for (BlockEngine* const one : {cpu.get(), reference.get()}) {
    const std::vector<Answer> compressed = answers(*one, batch, true);
    Batch back;
    std::vector<Bytes> contents;
    for (std::size_t i = 0; i < batch.blocks.size(); ++i) {
      if (compressed[i].status != Status::kOk) {
        require(compressed[i].status == Status::kOutputTooSmall);
        continue;
      }
      const Bytes& content = batch.blocks[i].input;
      back.blocks.push_back({batch.blocks[i].history, compressed[i].bytes, content.size()});
      contents.push_back(content);
    }
    for (BlockEngine* const other : {cpu.get(), reference.get()}) {
      const std::vector<Answer> restored = answers(*other, back, false);
      for (std::size_t i = 0; i < contents.size(); ++i)
        require(restored[i].status == Status::kOk && restored[i].bytes == contents[i]);
    }
  }
  return 0;
}
