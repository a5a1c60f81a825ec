// Batches of blocks for engines that are held against each other.
#pragma once

#include "engine/registry.hpp"
#include "fuzz.hpp"

namespace hemstitch::fuzz {

// A batch as an input describes it: blocks cut from its data, each with as much history and room as it says.
struct Batch {
  struct Block {
    Bytes history, input;
    std::size_t room = 0;
  };
  std::vector<Block> blocks;
  EncodeParameters parameters;
  Format format = Format::kLz4;  // to restore
};

struct Answer {
  Status status = Status::kInternal;
  Bytes bytes;
  friend bool operator==(const Answer&, const Answer&) = default;
};

inline std::vector<Answer> answers(BlockEngine& engine, const Batch& batch, bool compresses) {
  std::vector<Bytes> outputs;
  std::vector<BlockTask> tasks;
  for (const Batch::Block& block : batch.blocks) outputs.emplace_back(block.room);
  for (std::size_t i = 0; i < batch.blocks.size(); ++i) {
    BlockTask task;
    task.input = batch.blocks[i].input;
    task.history = batch.blocks[i].history;
    task.output = outputs[i];
    tasks.push_back(task);
  }
  if (compresses)
    engine.compress(tasks, batch.parameters);
  else
    engine.restore(tasks, batch.format);
  std::vector<Answer> all;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    require(tasks[i].status != Status::kOk || tasks[i].output_bytes <= outputs[i].size());
    outputs[i].resize(tasks[i].status == Status::kOk ? tasks[i].output_bytes : 0);
    all.push_back({tasks[i].status, std::move(outputs[i])});
  }
  return all;
}

inline Batch take_batch(FuzzedDataProvider& input) {
  Batch batch;
  batch.parameters.level = input.ConsumeIntegralInRange(kMinLevel, kMaxLevel);
  batch.parameters.block_bytes = std::size_t{64 << 10}
                                 << 2 * input.ConsumeIntegralInRange(0, 3);  // a frame's
  batch.blocks.resize(input.ConsumeIntegralInRange<std::size_t>(1, 4));
  std::vector<std::pair<std::size_t, std::size_t>> sizes;
  for (Batch::Block& block : batch.blocks) {
    sizes.emplace_back(input.ConsumeIntegralInRange<std::size_t>(0, 300),
                       input.ConsumeIntegralInRange<std::size_t>(0, 1000));
    block.room = input.ConsumeIntegralInRange<std::size_t>(0, 2000);
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const bool is_last = i + 1 == sizes.size();
    batch.blocks[i].history = input.ConsumeBytes<std::byte>(sizes[i].first);
    batch.blocks[i].input = is_last ? rest_of(input) : input.ConsumeBytes<std::byte>(sizes[i].second);
  }
  // A frame has no empty blocks.
  std::erase_if(batch.blocks, [](const Batch::Block& block) { return block.input.empty(); });
  return batch;
}

inline std::unique_ptr<BlockEngine> engine_of(const char* backend) {
  return BackendRegistry::instance().find_usable(backend).make_engine({});
}

}  // namespace hemstitch::fuzz
