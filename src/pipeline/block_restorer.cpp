#include "pipeline/block_restorer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "pipeline/block_checksums.hpp"
#include "pipeline/history.hpp"

namespace hemstitch {
namespace {

// The checksum of a block's data, if it is stored in the frame and verified; otherwise 0.
std::uint32_t data_checksum(const BlockRestorer& restorer, const RestoreSlot::Block& block) {
  if (!block.checksum || !restorer.verifies_checksums) return 0;
  return checksum_of(restorer.format.checksum(), block.data);
}

// `found` is the result of data_checksum().
void verify_data(const BlockRestorer& restorer, const RestoreSlot::Block& block, std::uint32_t found) {
  if (!block.checksum || !restorer.verifies_checksums) return;
  if (found != *block.checksum)
    throw Error(
        Status::kBlockChecksumMismatch,
        fmt::format("the block's checksum is {:#010x}, it should be {:#010x}", found, *block.checksum),
        block.place);
}

void verify_content(const BlockRestorer& restorer, const RestoreSlot::Block& block) {
  if (block.content_bytes && *block.content_bytes != block.content.size())
    throw Error(Status::kContentSizeMismatch,
                fmt::format("the block's size field says {} bytes, {} were restored", *block.content_bytes,
                            block.content.size()),
                block.place);
  if (!block.content_checksum || !restorer.verifies_checksums) return;
  if (block.found_checksum != *block.content_checksum)
    throw Error(Status::kBlockChecksumMismatch,
                fmt::format("the checksum of the block's content is {:#010x}, it should be {:#010x}",
                            block.found_checksum, *block.content_checksum),
                block.place);
}

void require_restored(const BlockRestorer& restorer, const BlockTask& task, const Place& place) {
  if (task.status == Status::kCorruptBlock)
    throw Error(task.status, fmt::format("this is not a valid {} block", restorer.format.title()), place);
  if (task.status != Status::kOk) throw Error(task.status, "the block could not be restored", place);
}

}  // namespace

void BlockRestorer::restore_independent(RestoreSlot& slot) const {
  // Blocks that state their size get exactly so much room, so that their contents are adjacent, and are
  // downloaded together.
  const auto said_bytes = [&](const RestoreSlot::Block& block) {
    return static_cast<std::size_t>(
        std::min<std::uint64_t>(block.content_bytes.value_or(header.block_bytes), header.block_bytes));
  };
  std::byte* room = slot.output.get();
  std::vector<BlockTask>& tasks = slot.tasks;
  tasks.clear();
  std::exception_ptr bad_checksum;
  std::size_t checked_blocks = 0;
  std::vector<std::uint32_t>& data_checksums = slot.data_checksums;
  data_checksums.resize(slot.blocks.size());
  for_each_block(slot.blocks.size(), header.block_bytes, threads,
                 [&](std::size_t i) { data_checksums[i] = data_checksum(*this, slot.blocks[i]); });
  for (RestoreSlot::Block& block : slot.blocks) {
    try {
      verify_data(*this, block, data_checksums[checked_blocks]);
    } catch (...) {
      bad_checksum = std::current_exception();  // blocks before it are still restored
      break;
    }
    if (!block.stored) {
      BlockTask task;
      task.input = block.data;
      task.history = dictionary;
      task.output = {room, said_bytes(block)};
      room += task.output.size();
      tasks.push_back(task);
    }
    checked_blocks++;
  }
  if (!tasks.empty()) engine.restore(tasks, format_id);
  auto task = tasks.begin();
  std::exception_ptr not_restored;
  std::vector<std::byte>
      whole_room;  // for a block that may hold more than it states, so that exactly this is reported
  std::size_t restored_blocks = 0;
  for (; restored_blocks < checked_blocks; restored_blocks++) {
    RestoreSlot::Block& block = slot.blocks[restored_blocks];
    if (block.stored) {
      block.content = block.data;
      continue;
    }
    try {
      if (task->status != Status::kOk && task->output.size() < header.block_bytes && whole_room.empty()) {
        whole_room.resize(header.block_bytes);
        task->output = whole_room;
        engine.restore({&*task, 1}, format_id);
      }
      require_restored(*this, *task, block.place);
    } catch (...) {
      not_restored = std::current_exception();
      break;
    }
    block.content = task->output.first(task->output_bytes);
    ++task;
  }
  sum_up(slot, restored_blocks);
  for (; slot.good_blocks < restored_blocks; slot.good_blocks++)
    verify_content(*this, slot.blocks[slot.good_blocks]);
  if (not_restored) std::rethrow_exception(not_restored);
  if (bad_checksum) std::rethrow_exception(bad_checksum);
}

void BlockRestorer::restore_linked(RestoreSlot& slot, std::vector<std::byte>& history) const {
  std::copy(history.begin(), history.end(), slot.output.get());
  std::byte* const begin = slot.output.get();
  std::byte* at = begin + history.size();
  for (RestoreSlot::Block& block : slot.blocks) {
    verify_data(*this, block, data_checksum(*this, block));
    if (block.stored) {
      std::copy(block.data.begin(), block.data.end(), at);
      block.content = {at, block.data.size()};
    } else {
      BlockTask task;
      task.input = block.data;
      task.history = {at - std::min<std::size_t>(header.history_bytes, at - begin), at};
      task.output = {at, header.block_bytes};
      engine.restore({&task, 1}, format_id);
      require_restored(*this, task, block.place);
      block.content = task.output.first(task.output_bytes);
    }
    at += block.content.size();
    if (sums_up) block.found_checksum = checksum_of(format.checksum(), block.content);
    verify_content(*this, block);
    slot.good_blocks++;
  }
  append_history(history, {begin + history.size(), at}, header.history_bytes);
}

void BlockRestorer::sum_up(RestoreSlot& slot, std::size_t count) const {
  if (!sums_up) return;
  const auto found = block_checksums(format.checksum(), count, header.block_bytes, threads,
                                     [&](std::size_t i) { return slot.blocks[i].content; });
  for (std::size_t i = 0; i < count; ++i) slot.blocks[i].found_checksum = found[i];
}

}  // namespace hemstitch
