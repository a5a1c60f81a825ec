// A batch of blocks for a WebGPU device, as data: the buffers that it takes, what is copied into them, the steps,
// and what the host reads afterwards. It is made and tested without a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "core/status.hpp"
#include "format/restore_status_webgpu.hpp"
#include "gpu/webgpu/recording.hpp"

namespace hemstitch::webgpu {

constexpr std::uint64_t whole_words(std::uint64_t bytes) { return divided_up(bytes, 4) * 4; }

// A block of a batch, by its sizes.
struct BlockSizes {
  std::uint32_t history_bytes = 0;  // the content before it that matches may refer to
  std::uint32_t input_bytes = 0;
  std::uint32_t room_bytes = 0;  // the most that its output may take
};

// Where the device put a block's output.
struct BlockOutput {
  Status status = Status::kInternal;
  std::uint32_t begin = 0, bytes = 0;
};
struct BatchOutput {
  std::vector<BlockOutput> blocks;
  std::uint64_t bytes = 0;  // of the output, up to the end of the last block
};

struct StagedBatch {
  // Rows about the blocks, for the steps.
  struct Table {
    BufferId to;
    std::vector<std::byte> rows;
  };
  // What the host reads about the blocks: the first bytes of a buffer.
  struct Results {
    BufferId from;
    std::uint64_t bytes = 0;
  };

  BufferPlan buffers;
  Recording recording;

  BufferId data;  // each block directly after its history, from a whole word on
  std::uint64_t data_bytes = 0;
  std::vector<std::uint32_t> begins;  // where each block's history begins in the data
  std::vector<Table> tables;

  std::vector<Results> results;
  BufferId output;
  std::uint64_t most_output_bytes = 0;
  // Whether the blocks' outputs lie one directly after the other, each from a whole word on, so that all of them
  // may take far less than `most_output_bytes`; else each has its whole room.
  bool is_packed = false;
  // Takes the bytes of `results`, one directly after the other.
  std::function<BatchOutput(std::span<const std::byte>)> read_results;

  template <class Row>
  void add_table(BufferId to, const std::vector<Row>& table) {
    const auto bytes = std::as_bytes(std::span(table));
    tables.push_back({to, {bytes.begin(), bytes.end()}});
  }
};

// Sets the results of an encoder: `sizes` has the bytes of each block, or kEncodedTooLarge, and `begins` where it
// begins in `output`, with the end of the last one.
void set_encoded(StagedBatch& staged, BufferId sizes, BufferId begins, BufferId output,
                 std::uint64_t most_output_bytes);

// A batch to restore. A row of the table has `begin` in the data and `output_begin`; a `State` on the device has
// `status`, as restore_status() takes it, and `restored_bytes`.
template <class State, class Table, class Plan>
StagedBatch staged_restoration(const Table& table, Plan plan, Recording recording) {
  StagedBatch staged;
  staged.buffers = std::move(plan.buffers);
  staged.recording = std::move(recording);
  staged.data = plan.data;
  staged.data_bytes = table.data_bytes;
  staged.add_table(plan.rows, table.rows);
  // A driver may stop a shader before it writes how far it came. Zeros would read as an empty content that is whole;
  // this is a fault of the device, and later steps leave it.
  State unwritten;
  unwritten.status = kUnwritten;
  staged.add_table(plan.results, std::vector(table.rows.size(), unwritten));
  staged.results = {{plan.results, table.rows.size() * sizeof(State)}};
  staged.output = plan.output;
  staged.most_output_bytes = table.output_bytes;
  std::vector<std::uint32_t> output_begins;
  for (const auto& row : table.rows) {
    staged.begins.push_back(row.begin);
    output_begins.push_back(row.output_begin);
  }
  staged.read_results = [begins = std::move(output_begins),
                         output_bytes = table.output_bytes](std::span<const std::byte> results) {
    BatchOutput output{{}, output_bytes};
    for (std::size_t i = 0; i < begins.size(); ++i) {
      State state;
      std::memcpy(&state, results.data() + i * sizeof state, sizeof state);
      output.blocks.push_back({restore_status(state.status), begins[i], state.restored_bytes});
    }
    return output;
  };
  return staged;
}

}  // namespace hemstitch::webgpu
