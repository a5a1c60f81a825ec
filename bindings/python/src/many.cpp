// compress_many() and restore_many(): take a list of buffers, return a list of results, and release the GIL
// once in between.
#include <nanobind/stl/vector.h>

#include "keywords.hpp"
#include "module.hpp"
#include "python_buffers.hpp"
#include "signals.hpp"

namespace hemstitch::python {
namespace {

// Bytes for each result, or an Error if it failed. What stands before other bytes is in the Error.
nb::object result_of(const OneOfMany& one) {
  if (one.status == Status::kOk) return bytes_of(one.bytes);
  nb::object error = error_object(one.status, one.message, one.place);
  if (one.status == Status::kTrailingGarbage) error.attr("content") = bytes_of(one.bytes);
  return error;
}

nb::list results_of(std::vector<OneOfMany>& results) {
  nb::list list;
  for (OneOfMany& one : results) {
    list.append(result_of(one));
    one.bytes = {};  // freed now, so that not all results are in memory twice
  }
  return list;
}

nb::list compress_all(nb::iterable objects, const nb::kwargs& given) {
  const CompressCall call = compress_call(given);
  const std::vector<Buffer> buffers = buffers_of(objects);
  std::vector<OneOfMany> results = interruptible(call.options, [&](const CompressOptions& watched) {
    return compress_many(spans_of(buffers), watched);
  });
  return results_of(results);
}

nb::list restore_all(nb::iterable objects, const nb::kwargs& given) {
  const RestoreCall call = restore_call(given);
  const std::vector<Buffer> buffers = buffers_of(objects);
  std::vector<OneOfMany> results = interruptible(
      call.options, [&](const RestoreOptions& watched) { return restore_many(spans_of(buffers), watched); });
  return results_of(results);
}

nb::object block_result(const Lz4Block& block) {
  if (block.status == Status::kOk) return bytes_of(block.output.first(block.output_bytes));
  return error_object(block.status, Error(block.status, "the LZ4 block").what(), {});
}

// Blocks are processed in stretches with this much room, so that unused room is used again soon.
constexpr std::size_t kRoomBytes = std::size_t{32} << 20;

// Gives each stretch of `blocks` room for sizes[i] bytes each, and calls work(stretch, options). Returns a
// result for each block.
template <class Options, class Work>
nb::list in_stretches(std::vector<Lz4Block>& blocks, const std::vector<std::size_t>& sizes,
                      const Options& options, const Work& work) {
  std::unique_ptr<std::byte[]> room;
  std::size_t room_bytes = 0;
  nb::list list;
  for (std::size_t begin = 0; begin < blocks.size();) {
    std::size_t end = begin, bytes = 0;
    while (end < blocks.size() && (end == begin || bytes + sizes[end] <= kRoomBytes)) bytes += sizes[end++];
    interruptible(options, [&](const Options& watched) {
      if (bytes > room_bytes) room.reset(new std::byte[room_bytes = std::max(bytes, kRoomBytes)]);
      std::size_t at = 0;
      for (std::size_t i = begin; i < end; at += sizes[i++]) blocks[i].output = {room.get() + at, sizes[i]};
      work(std::span(blocks).subspan(begin, end - begin), watched);
    });
    for (std::size_t i = begin; i < end; ++i) list.append(block_result(blocks[i]));
    begin = end;
  }
  return list;
}

std::vector<Lz4Block> blocks_of(const std::vector<Buffer>& buffers) {
  std::vector<Lz4Block> blocks(buffers.size());
  for (std::size_t i = 0; i < blocks.size(); ++i) blocks[i].input = buffers[i].bytes();
  return blocks;
}

nb::list compress_blocks(nb::iterable objects, const nb::kwargs& given) {
  CompressOptions options = compress_call(given).options;
  options.backend = "cpu";
  const std::vector<Buffer> buffers = buffers_of(objects);
  std::vector<Lz4Block> blocks = blocks_of(buffers);
  std::vector<std::size_t> sizes;
  for (const Lz4Block& block : blocks) sizes.push_back(lz4_block_bound(block.input.size()));
  return in_stretches(blocks, sizes, options, compress_lz4_blocks);
}

nb::list restore_blocks(nb::iterable objects, nb::iterable block_sizes, const nb::kwargs& given) {
  const RestoreOptions options = restore_call(given).options;
  const std::vector<Buffer> buffers = buffers_of(objects);
  std::vector<std::size_t> sizes;
  for (const nb::handle size : nb::iter(block_sizes))
    sizes.push_back(
        Keyword("sizes[" + std::to_string(sizes.size()) + "]", size).number<std::size_t>(0, PY_SSIZE_T_MAX));
  if (sizes.size() != buffers.size())
    throw Error(Status::kInvalidOption, "sizes has " + std::to_string(sizes.size()) + " numbers for " +
                                            std::to_string(buffers.size()) + " blocks");
  std::vector<Lz4Block> blocks = blocks_of(buffers);
  return in_stretches(blocks, sizes, options, restore_lz4_blocks);
}

// Restores into buffers of the caller's, whose sizes are the rooms. Returns the number of bytes in each, or
// its Error.
nb::list restore_blocks_into(nb::iterable objects, nb::iterable outputs, const nb::kwargs& given) {
  const RestoreOptions options = restore_call(given).options;
  const std::vector<Buffer> buffers = buffers_of(objects), rooms = buffers_of(outputs, Buffer::Use::kWrite);
  if (rooms.size() != buffers.size())
    throw Error(Status::kInvalidOption, "there are " + std::to_string(rooms.size()) + " outputs for " +
                                            std::to_string(buffers.size()) + " blocks");
  std::vector<Lz4Block> blocks = blocks_of(buffers);
  for (std::size_t i = 0; i < blocks.size(); ++i) blocks[i].output = rooms[i].room();
  interruptible(options, [&](const RestoreOptions& watched) { restore_lz4_blocks(blocks, watched); });
  nb::list list;
  for (const Lz4Block& block : blocks)
    list.append(block.status == Status::kOk ? nb::object(nb::int_(block.output_bytes)) : block_result(block));
  return list;
}

}  // namespace

void add_many(nb::module_& module) {
  using namespace nb::literals;
  module.def("compress_many", compress_all, "objects"_a, "options"_a);
  module.def("restore_many", restore_all, "objects"_a, "options"_a);
  module.def("compress_lz4_blocks", compress_blocks, "objects"_a, "options"_a);
  module.def("restore_lz4_blocks", restore_blocks, "objects"_a, "sizes"_a, "options"_a);
  module.def("restore_lz4_blocks_into", restore_blocks_into, "objects"_a, "outputs"_a, "options"_a);
}

}  // namespace hemstitch::python
