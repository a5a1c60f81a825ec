// Chunks of arrays (hemstitch.zarr, hemstitch.hdf5): many in one call, without the GIL.
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <utility>

#include "hemstitch/arrays.hpp"
#include "hemstitch/compact.hpp"
#include "keywords.hpp"
#include "module.hpp"
#include "python_buffers.hpp"
#include "signals.hpp"

namespace hemstitch::python {
namespace {

// Words of an enumeration's values.
template <class Value, std::size_t kCount>
using Words = std::array<std::pair<const char*, Value>, kCount>;
constexpr Words<ChunkContainer, 4> kContainers = {{{"bare", ChunkContainer::kBare},
                                                   {"blosc", ChunkContainer::kBlosc},
                                                   {"hdf5-lz4", ChunkContainer::kHdf5Lz4},
                                                   {"hdf5-bitshuffle", ChunkContainer::kHdf5Bitshuffle}}};
constexpr Words<ChunkFilter, 3> kFilters = {{{"none", ChunkFilter::kNone},
                                             {"shuffle", ChunkFilter::kShuffle},
                                             {"bitshuffle", ChunkFilter::kBitshuffle}}};

template <class Value, std::size_t kCount>
Value value_of(const char* name, const Words<Value, kCount>& words, const std::string& given) {
  std::string known;
  for (const auto& [word, value] : words) {
    if (word == given) return value;
    known += (known.empty() ? "" : ", ") + std::string(word);
  }
  throw Error(Status::kInvalidOption, std::string(name) + " is '" + given + "'; it may be " + known);
}

ChunkCoding coding_of(const std::string& container, const std::string& format, std::uint32_t element_bytes) {
  ChunkCoding coding;
  coding.container = value_of("container", kContainers, container);
  const auto known = format_of(format);
  if (!known) throw Error(Status::kInvalidOption, "format: blocks have one");
  coding.format = *known;
  coding.element_bytes = element_bytes;
  return coding;
}

template <class Options>
Options on_processor(nb::handle threads) {
  Options options;
  WorkingPlace place = working_place("cpu", threads_of(threads));
  options.backend = std::move(place.backend);
  options.threads = place.threads;
  return options;
}

nb::object outcome_of(const ArrayChunk& chunk) {
  return chunk.status == Status::kOk ? nb::none() : error_object(chunk.status, chunk.message, {});
}

// None for each chunk, or its Error. The outputs are as large as the contents.
nb::list restore_all_chunks(nb::iterable objects, nb::iterable outputs, const std::string& container,
                            const std::string& format, std::uint32_t element_bytes, nb::object threads) {
  const ChunkCoding coding = coding_of(container, format, element_bytes);
  const auto options = on_processor<RestoreOptions>(threads);
  const std::vector<Buffer> buffers = buffers_of(objects), rooms = buffers_of(outputs, Buffer::Use::kWrite);
  if (rooms.size() != buffers.size())
    throw Error(Status::kInvalidOption, "there are " + std::to_string(rooms.size()) + " outputs for " +
                                            std::to_string(buffers.size()) + " chunks");
  std::vector<ArrayChunk> chunks(buffers.size());
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    chunks[i].input = buffers[i].bytes();
    chunks[i].output = rooms[i].room();
  }
  interruptible(options, [&](const RestoreOptions& watched) { restore_chunks(chunks, coding, watched); });
  nb::list list;
  for (const ArrayChunk& chunk : chunks) list.append(outcome_of(chunk));
  return list;
}

// Bytes for each object, written where they stay.
nb::list compress_all_chunks(nb::iterable objects, const std::string& container, const std::string& format,
                             const std::string& filter, std::uint32_t element_bytes,
                             std::uint32_t block_bytes, nb::object level, int acceleration,
                             nb::object threads) {
  ChunkCoding coding = coding_of(container, format, element_bytes);
  coding.filter = value_of("filter", kFilters, filter);
  coding.block_bytes = block_bytes;
  coding.level = level_of(level);
  coding.acceleration = acceleration;
  const auto options = on_processor<CompressOptions>(threads);
  const std::vector<Buffer> buffers = buffers_of(objects);
  std::vector<ArrayChunk> chunks;
  for (const Buffer& buffer : buffers) chunks.push_back({.input = buffer.bytes(), .output = {}});
  std::vector<nb::bytes> results;
  const auto room = [&](std::size_t, std::size_t bytes) {
    const nb::gil_scoped_acquire gil;
    BytesResult result(bytes);
    const std::span<std::byte> given = result.room();
    results.push_back(result.take(bytes));
    return given;
  };
  interruptible(options,
                [&](const CompressOptions& watched) { compress_chunks(chunks, coding, watched, room); });
  nb::list list;
  for (const nb::bytes& result : results) list.append(result);
  return list;
}

// (format, filter, bytes of an element, bytes that the filter rearranges at once, where it begins and ends, bytes of content, blocks): for each of the blocks five numbers of 64 bits,
// the members of ChunkBlock.
nb::tuple layout_of(nb::handle object, const std::string& container, const std::string& format,
                    std::uint32_t element_bytes) {
  const Buffer buffer(object);
  const ChunkLayout layout = chunk_layout(buffer.bytes(), coding_of(container, format, element_bytes));
  std::vector<std::uint64_t> numbers;
  for (const ChunkBlock& block : layout.blocks)
    numbers.insert(numbers.end(),
                   {block.begin, block.bytes, block.content_begin, block.content_bytes, block.stored});
  const auto name = [&](const auto& rows, auto value) {
    return std::ranges::find(rows, value, [](const auto& row) { return row.second; })->first;
  };
  std::string_view format_name;
  for (const FormatName& known : format_names())
    if (known.format == layout.format) format_name = known.name;
  return nb::make_tuple(nb::str(format_name.data(), format_name.size()), name(kFilters, layout.filter),
                        layout.element_bytes, layout.filter_block_bytes, layout.filtered_begin,
                        layout.filtered_end, layout.content_bytes,
                        bytes_of(std::as_bytes(std::span(numbers))));
}

// Calls rearrange(source, target) for each object, and returns the targets.
template <class Rearrange>
nb::list rearranged(nb::iterable objects, const Rearrange& rearrange) {
  const std::vector<Buffer> buffers = buffers_of(objects);
  std::vector<nb::bytes> results;
  std::vector<std::span<std::byte>> targets;
  for (const Buffer& buffer : buffers) {
    BytesResult result(buffer.bytes().size());
    targets.push_back(result.room());
    results.push_back(result.take(buffer.bytes().size()));
  }
  {
    const nb::gil_scoped_release released;
    for (std::size_t i = 0; i < buffers.size(); ++i) rearrange(buffers[i].bytes(), targets[i]);
  }
  nb::list list;
  for (const nb::bytes& result : results) list.append(result);
  return list;
}

// HDF5's shuffle filter, or its inverse.
nb::list shuffle_all(nb::iterable objects, std::uint32_t element_bytes, bool back) {
  return rearranged(objects, [&](std::span<const std::byte> source, std::span<std::byte> target) {
    (back ? unshuffle_bytes : shuffle_bytes)(source, element_bytes, target);
  });
}

// HDF5's bitshuffle filter without compression, or its inverse.
nb::list bitshuffle_all(nb::iterable objects, std::uint32_t element_bytes, std::size_t block_bytes,
                        bool back) {
  return rearranged(objects, [&](std::span<const std::byte> source, std::span<std::byte> target) {
    (back ? bitunshuffle_bytes : bitshuffle_bytes)(source, element_bytes, block_bytes, target);
  });
}

// numcodecs' filter delta for integers, or its inverse.
nb::list delta_all(nb::iterable objects, std::uint32_t element_bytes, bool back) {
  return rearranged(objects, [&](std::span<const std::byte> source, std::span<std::byte> target) {
    (back ? undelta_bytes : delta_bytes)(source, element_bytes, target);
  });
}

std::uint32_t fletcher32_of(nb::handle object) {
  const Buffer buffer(object);
  const nb::gil_scoped_release released;
  return hdf5_fletcher32(buffer.bytes());
}

}  // namespace

void add_chunks(nb::module_& module) {
  using namespace nb::literals;
  module.def("restore_chunks", restore_all_chunks, "objects"_a, "outputs"_a, "container"_a, nb::kw_only(),
             "format"_a = "lz4", "element_bytes"_a = 1, "threads"_a = 0);
  module.def("compress_chunks", compress_all_chunks, "objects"_a, "container"_a, nb::kw_only(),
             "format"_a = "lz4", "filter"_a = "none", "element_bytes"_a = 1, "block_bytes"_a = 0,
             "level"_a = nb::none(), "acceleration"_a = 0, "threads"_a = 0);
  module.def("chunk_layout", layout_of, "object"_a, "container"_a, nb::kw_only(), "format"_a = "lz4",
             "element_bytes"_a = 1);
  module.def("shuffle", shuffle_all, "objects"_a, "element_bytes"_a, "back"_a);
  module.def("bitshuffle", bitshuffle_all, "objects"_a, "element_bytes"_a, "block_bytes"_a, "back"_a);
  module.def("delta", delta_all, "objects"_a, "element_bytes"_a, "back"_a);
  module.def("hdf5_fletcher32", fletcher32_of, "object"_a);
}

}  // namespace hemstitch::python
