// Implements memory.h with memory.hpp.
#include <algorithm>
#include <vector>

#include "api/c/c_options.hpp"
#include "core/overlap.hpp"
#include "hemstitch/memory.h"

namespace hemstitch {
namespace {

std::span<hemstitch_item> checked_items(hemstitch_item* items, std::size_t count) {
  need_for(count, items, "items");
  for (const hemstitch_item& item : std::span(items, count)) {
    need_for(item.input_bytes, item.input, "an item's input");
    need_for(item.output_capacity, item.output, "an item's output");
  }
  return {items, count};
}

template <class Options>
Options options_of_many(const Options* given) {
  const Options all = sized(given, "options");
  refuse_watchers(all, "it takes many inputs");
  return all;
}

template <class Run>
void run_many(std::span<hemstitch_item> items, const Run& run) {
  std::vector<std::span<const std::byte>> inputs, outputs;
  for (const hemstitch_item& item : items) {
    inputs.push_back(bytes_of(item.input, item.input_bytes));
    outputs.push_back(room_of(item.output, item.output_capacity));
  }
  refuse_overlaps(inputs, outputs);
  const std::vector<OneOfMany> results = run(inputs);
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::vector<std::byte>& bytes = results[i].bytes;
    const bool fits = bytes.size() <= items[i].output_capacity;
    if (fits) std::copy(bytes.begin(), bytes.end(), static_cast<std::byte*>(items[i].output));
    items[i].output_bytes = fits ? bytes.size() : 0;
    items[i].status = static_cast<hemstitch_status>(fits ? results[i].status : Status::kOutputTooSmall);
    items[i].place = place_for_c(results[i].place);
  }
}

template <class Run>
void run_lz4_blocks(std::span<hemstitch_item> items, const Run& run) {
  std::vector<Lz4Block> blocks(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    blocks[i].input = bytes_of(items[i].input, items[i].input_bytes);
    blocks[i].output = room_of(items[i].output, items[i].output_capacity);
  }
  run(std::span(blocks));
  for (std::size_t i = 0; i < items.size(); ++i) {
    items[i].status = static_cast<hemstitch_status>(blocks[i].status);
    items[i].output_bytes = blocks[i].status == Status::kOk ? blocks[i].output_bytes : 0;
    items[i].place = kNoPlace;
  }
}

}  // namespace
}  // namespace hemstitch

using namespace hemstitch;

extern "C" {

hemstitch_status hemstitch_compress_many(const hemstitch_compress_options* given, hemstitch_item* items,
                                         size_t count) {
  return guarded([&] {
    const auto checked = checked_items(items, count);
    const CompressOptions options = options_of(options_of_many(given));
    run_many(checked, [&](const auto& inputs) { return compress_many(inputs, options); });
  });
}

hemstitch_status hemstitch_restore_many(const hemstitch_restore_options* given, hemstitch_item* items,
                                        size_t count) {
  return guarded([&] {
    const auto checked = checked_items(items, count);
    const RestoreOptions options = options_of(options_of_many(given));
    run_many(checked, [&](const auto& inputs) { return restore_many(inputs, options); });
  });
}

hemstitch_status hemstitch_compress_lz4_blocks(const hemstitch_compress_options* given, hemstitch_item* items,
                                               size_t count) {
  return guarded([&] {
    const auto checked = checked_items(items, count);
    const CompressOptions options = options_of(options_of_many(given));
    run_lz4_blocks(checked, [&](std::span<Lz4Block> blocks) { compress_lz4_blocks(blocks, options); });
  });
}

hemstitch_status hemstitch_restore_lz4_blocks(const hemstitch_restore_options* given, hemstitch_item* items,
                                              size_t count) {
  return guarded([&] {
    const auto checked = checked_items(items, count);
    const RestoreOptions options = options_of(options_of_many(given));
    run_lz4_blocks(checked, [&](std::span<Lz4Block> blocks) { restore_lz4_blocks(blocks, options); });
  });
}

}  // extern "C"
