#include "batch/batch_workspace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "batch/batch_device.hpp"
#include "format/lz4/lz4_levels.hpp"
#include "parse/parse_room.hpp"

namespace hemstitch {

WorkspacePlan batch_workspace(const BatchShape& shape, int level) {
  hemstitch_batch batch{};
  batch.count = shape.block_count;
  batch.max_input_bytes = shape.block_bytes;
  batch.max_history_bytes = shape.history_bytes;
  batch.total_input_bytes = shape.input_bytes();
  // As if the stages ran one by one, which is how blocks with history are compressed.
  const Lz4Level chosen = lz4_level(level, shape.block_bytes, kMaxRecordOffset);
  const BatchParse parse{.parse = chosen.parse, .plan = lz4_block_plan()};

  WorkspacePlan plan;
  plan.add("candidates", sizeof(hemstitch_candidate), shape.input_bytes(), "from finding to parsing");
  plan.add("temporary",
           std::max(batch_find_temp_bytes(batch, chosen.finder), batch_parse_temp_bytes(batch, parse)), 1,
           "finding, then parsing");
  plan.add("sequences", sizeof(hemstitch_sequence),
           first_sequence(shape.input_bytes(), shape.block_count, parse.plan), "from parsing on");
  // Where its candidates and sequences begin, how many sequences it has, and a status.
  plan.add("of each block", 2 * sizeof(std::uint64_t) + sizeof(std::uint32_t) + sizeof(hemstitch_status),
           shape.block_count, "from finding on");
  return plan;
}

std::vector<std::string> batch_workspace_report() {
  constexpr BatchShape kShape{.block_count = 1024, .block_bytes = 256 << 10, .history_bytes = 64 << 10};
  std::vector<std::string> lines;
  for (const auto& [level, levels] : {std::pair{1, "levels 1 and 2"}, std::pair{3, "levels 3 to 12"}}) {
    const WorkspacePlan plan = batch_workspace(kShape, level);
    lines.push_back(
        fmt::format("{}: {} blocks of {}K with {}K before each, {:.2f} bytes for each byte of them", levels,
                    kShape.block_count, kShape.block_bytes >> 10, kShape.history_bytes >> 10,
                    static_cast<double>(plan.total_bytes()) / static_cast<double>(kShape.input_bytes())));
    std::istringstream text(plan.text());
    for (std::string line; std::getline(text, line);) lines.push_back(line);
  }
  return lines;
}

}  // namespace hemstitch
