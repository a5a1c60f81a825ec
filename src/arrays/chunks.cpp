// restore_chunks() and compress_chunks(). The unit of work is what a filter rearranged by itself: its blocks are restored into scratch
// memory that stays in a core's cache, and from there rearranged to their place.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

#include "arrays/blosc.hpp"
#include "arrays/blosc2.hpp"
#include "arrays/chunk_worker.hpp"
#include "arrays/hdf5_chunks.hpp"
#include "compact/shuffle/shuffle_tuning.hpp"
#include "core/bytes.hpp"
#include "core/call_in_pieces.hpp"
#include "core/options.hpp"
#include "core/overlap.hpp"
#include "core/parallel.hpp"
#include "core/status.hpp"
#include "hemstitch/compact.hpp"

namespace hemstitch {
namespace {

// A thread takes units of so much content in a row.
constexpr std::size_t kBytesInARow = std::size_t{1} << 18;
// Blosc's blocks, if no size is given: content and what a filter makes of it stay in a core's cache.
constexpr std::uint32_t kBloscBlockBytes = 256 << 10, kBloscSplitBlockBytes = 512 << 10;
// Blocks of LZ4 are in parts, a plane of bytes each, since the planes of low bytes are often noise: it is given up early, and stored. Not for large
// elements, nor where parts would be this short.
constexpr std::uint32_t kMostBloscParts = 16, kLeastBloscPartBytes = 128;
// Filter 32004's own default is one block.
constexpr std::uint32_t kMostHdf5Lz4BlockBytes = 1 << 30;

std::size_t coded_block_bound(Format format, std::size_t content_bytes) {
  return idle_chunk_workers().borrow()->coder(format).bound(content_bytes);
}

void check_coding(const ChunkCoding& coding) {
  const auto refuse = [](const std::string& what) { throw Error(Status::kInvalidOption, what); };
  const bool is_bitshuffle = coding.container == ChunkContainer::kHdf5Bitshuffle;
  switch (coding.container) {
    case ChunkContainer::kBlosc:
    case ChunkContainer::kBare:
      if (coding.format != Format::kLz4 && coding.format != Format::kZlib && coding.format != Format::kZstd)
        refuse("format: blocks are of LZ4, zlib or Zstandard");
      break;
    case ChunkContainer::kHdf5Lz4:
      if (coding.format != Format::kLz4) refuse("format: HDF5's LZ4 filter has blocks of LZ4");
      break;
    case ChunkContainer::kHdf5Bitshuffle:
      if (coding.format != Format::kLz4 && coding.format != Format::kZstd)
        refuse("format: HDF5's bitshuffle filter has blocks of LZ4 or Zstandard");
      break;
    default:
      refuse(fmt::format("container is {}, which is none", static_cast<int>(coding.container)));
  }
  const std::uint32_t most = is_bitshuffle ? kMostElementBytes : kBloscMostElementBytes;
  if (coding.element_bytes == 0 || coding.element_bytes > most)
    refuse(fmt::format("element_bytes is {}; elements have 1 to {} bytes", coding.element_bytes, most));
  if (coding.filter != ChunkFilter::kNone && coding.filter != ChunkFilter::kShuffle &&
      coding.filter != ChunkFilter::kBitshuffle)
    refuse(fmt::format("filter is {}, which is none", static_cast<int>(coding.filter)));
}

// ---- Restoring ----

// What a filter rearranged by itself, or a block.
struct RestoreUnit {
  std::size_t chunk;
  std::span<const ChunkBlock> blocks;
  Status status = Status::kOk;
  std::size_t damaged_block = 0;  // of the chunk
};

// The same of Blosc 2, whose chunks have no layout.
struct Blosc2RestoreUnit {
  std::size_t chunk;
  Blosc2Unit unit;
  std::optional<std::uint32_t> damaged_block = {};
};

struct RestoredLayouts {
  std::vector<ChunkLayout> layouts;
  std::vector<RestoreUnit> units;
  std::vector<Blosc2Content> blosc2;
  std::vector<Blosc2RestoreUnit> blosc2_units;
};

void fail(ArrayChunk& chunk, const Error& error) {
  chunk.status = error.status();
  chunk.message = error.what();
}

ChunkLayout bare_layout(const ArrayChunk& chunk, Format format) {
  ChunkLayout layout;
  layout.format = format;
  layout.content_bytes = chunk.output.size();
  layout.blocks.push_back({0, chunk.input.size(), 0, chunk.output.size(), false});
  return layout;
}

void refuse_bare(const ChunkCoding& coding) {
  if (coding.container == ChunkContainer::kBare)
    throw Error(Status::kInvalidOption, "container: bare blocks are restored only");
}

// Reads the layouts of all chunks; those that have one get units.
RestoredLayouts read_layouts(std::span<ArrayChunk> chunks, const ChunkCoding& coding) {
  RestoredLayouts all;
  all.layouts.resize(chunks.size());
  all.blosc2.resize(chunks.size());
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    ChunkLayout& layout = all.layouts[i];
    try {
      if (coding.container == ChunkContainer::kBlosc && is_blosc2(chunks[i].input)) {
        all.blosc2[i] = read_blosc2(chunks[i].input, chunks[i].output.size());
        for (const Blosc2Unit& unit : blosc2_units(all.blosc2[i])) all.blosc2_units.push_back({i, unit});
        chunks[i].status = Status::kOk;
        chunks[i].message.clear();
        continue;
      }
      layout = coding.container == ChunkContainer::kBare ? bare_layout(chunks[i], coding.format)
                                                         : chunk_layout(chunks[i].input, coding);
      if (layout.content_bytes != chunks[i].output.size())
        throw Error(Status::kContentSizeMismatch,
                    fmt::format("a chunk says that it holds {} bytes; it should hold {}",
                                layout.content_bytes, chunks[i].output.size()));
    } catch (const Error& error) {
      fail(chunks[i], error);
      continue;
    }
    chunks[i].status = Status::kOk;
    chunks[i].message.clear();
    const std::span<const ChunkBlock> blocks = layout.blocks;
    for (std::size_t begin = 0; begin < blocks.size();) {
      std::size_t end = begin + 1;
      if (layout.filter != ChunkFilter::kNone) {
        const std::uint64_t number = blocks[begin].content_begin / layout.filter_block_bytes;
        while (end < blocks.size() && blocks[end].content_begin / layout.filter_block_bytes == number) ++end;
      }
      all.units.push_back({.chunk = i, .blocks = blocks.subspan(begin, end - begin)});
      begin = end;
    }
  }
  return all;
}

std::uint64_t content_end(std::span<const ChunkBlock> blocks) {
  return blocks.back().content_begin + blocks.back().content_bytes;
}

void restore_unit(RestoreUnit& unit, const ChunkLayout& layout, const ArrayChunk& chunk,
                  ChunkWorker& worker) {
  const auto begin = static_cast<std::size_t>(unit.blocks.front().content_begin),
             bytes = static_cast<std::size_t>(content_end(unit.blocks)) - begin;
  const std::span<std::byte> output = chunk.output.subspan(begin, bytes);
  const bool is_plain =
      layout.filter == ChunkFilter::kNone || begin < layout.filtered_begin || begin >= layout.filtered_end;
  const std::span<std::byte> content = is_plain ? output : worker.rearranged(bytes);
  for (const ChunkBlock& block : unit.blocks) {
    const std::span<const std::byte> data = chunk.input.subspan(block.begin, block.bytes);
    const std::span<std::byte> room = content.subspan(block.content_begin - begin, block.content_bytes);
    if (block.stored) {
      std::memcpy(room.data(), data.data(), data.size());
    } else if (!worker.coder(layout.format).restore(data, room)) {
      unit.status = Status::kCorruptBlock;
      unit.damaged_block = static_cast<std::size_t>(&block - layout.blocks.data());
      return;
    }
  }
  if (is_plain) return;
  if (layout.filter == ChunkFilter::kShuffle)
    unshuffle_bytes(content, layout.element_bytes, output);
  else
    bitunshuffle_bytes(content, layout.element_bytes, 0, output);
}

// ---- Compressing ----

// Whether full blocks of Blosc are in parts.
bool is_split(const ChunkCoding& coding) {
  return coding.container == ChunkContainer::kBlosc && coding.format == Format::kLz4 &&
         coding.filter == ChunkFilter::kShuffle && coding.element_bytes > 1 &&
         coding.element_bytes <= kMostBloscParts;
}

std::size_t parts_of(const ChunkCoding& coding, std::size_t block_bytes) {
  return is_split(coding) && block_bytes % coding.element_bytes == 0 &&
                 block_bytes / coding.element_bytes >= kLeastBloscPartBytes
             ? coding.element_bytes
             : 1;
}

std::uint32_t block_bytes_of(const ChunkCoding& coding, std::size_t content_bytes) {
  // At least one element, or eight of them where bits are rearranged.
  const bool by_bits =
      coding.container == ChunkContainer::kHdf5Bitshuffle || coding.filter == ChunkFilter::kBitshuffle;
  const std::uint32_t unit = coding.element_bytes * (by_bits ? 8 : 1);
  std::uint32_t bytes = coding.block_bytes;
  if (coding.container == ChunkContainer::kHdf5Bitshuffle) {
    if (bytes == 0) bytes = default_bitshuffle_block_bytes(coding.element_bytes);
    if (bytes % unit != 0)
      throw Error(Status::kInvalidOption,
                  fmt::format("block_bytes is {}; blocks have a multiple of eight elements of {} bytes",
                              bytes, coding.element_bytes));
    return bytes;
  }
  if (coding.container == ChunkContainer::kHdf5Lz4)
    return static_cast<std::uint32_t>(std::clamp<std::size_t>(
        bytes == 0 ? content_bytes : std::min<std::size_t>(bytes, content_bytes), 1, kMostHdf5Lz4BlockBytes));
  if (bytes == 0) bytes = is_split(coding) ? kBloscSplitBlockBytes : kBloscBlockBytes;
  bytes = std::max(bytes / unit * unit, unit);
  return static_cast<std::uint32_t>(std::clamp<std::size_t>(content_bytes, 1, bytes));
}

// Of that content, what is in blocks; the rest follows them as it is.
std::size_t bytes_in_blocks(const ChunkCoding& coding, std::size_t content_bytes) {
  return coding.container == ChunkContainer::kHdf5Bitshuffle
             ? static_cast<std::size_t>(bitshuffled_bytes(content_bytes, coding.element_bytes))
             : content_bytes;
}

bool may_store_blocks(const ChunkCoding& coding) {
  return coding.container != ChunkContainer::kHdf5Bitshuffle;
}

struct CompressUnit {
  std::size_t chunk;
  std::size_t begin, bytes, parts;         // of the content
  std::unique_ptr<std::byte[]> data = {};  // each part's size, and its data
  std::size_t data_bytes = 0;
};

// The content of a unit as it is compressed.
std::span<const std::byte> rearranged_content(const CompressUnit& unit, const ArrayChunk& chunk,
                                              const ChunkCoding& coding, ChunkWorker& worker) {
  const std::span<const std::byte> content = chunk.input.subspan(unit.begin, unit.bytes);
  const bool is_bitshuffle = coding.container == ChunkContainer::kHdf5Bitshuffle;
  // Blosc rearranges bits of a block only if its elements are a multiple of eight.
  const bool by_bits = is_bitshuffle || (coding.filter == ChunkFilter::kBitshuffle &&
                                         unit.bytes / coding.element_bytes % 8 == 0);
  const bool by_bytes = !is_bitshuffle && coding.filter == ChunkFilter::kShuffle && coding.element_bytes > 1;
  if (!by_bits && !by_bytes) return content;
  const std::span<std::byte> room = worker.rearranged(unit.bytes);
  if (by_bits)
    bitshuffle_bytes(content, coding.element_bytes, 0, room);
  else
    shuffle_bytes(content, coding.element_bytes, room);
  return room;
}

void compress_unit(CompressUnit& unit, const ArrayChunk& chunk, const ChunkCoding& coding,
                   ChunkWorker& worker) {
  const std::span<const std::byte> content = rearranged_content(unit, chunk, coding, worker);
  BlockCoder& coder = worker.coder(coding.format);
  const std::size_t part_bytes = unit.bytes / unit.parts,
                    room_bytes = kHdf5BlockSizeBytes + coder.bound(part_bytes);
  static_assert(kHdf5BlockSizeBytes == kBloscSizeBytes);
  const std::span<std::byte> room = worker.compressed(unit.parts * room_bytes);
  std::byte* at = room.data();
  for (std::size_t part = 0; part < unit.parts; ++part) {
    const std::span<const std::byte> given = content.subspan(part * part_bytes, part_bytes);
    const std::span<std::byte> data(at + kBloscSizeBytes, room_bytes - kBloscSizeBytes);
    const bool may_store = may_store_blocks(coding);
    std::size_t bytes =
        coder.compress(given, coding.level, coding.acceleration, may_store ? data.first(part_bytes) : data)
            .value_or(part_bytes);
    if (may_store && bytes >= part_bytes) {
      bytes = part_bytes;
      std::memcpy(data.data(), given.data(), bytes);
    }
    if (coding.container == ChunkContainer::kBlosc)
      store_le32(at, static_cast<std::uint32_t>(bytes));
    else
      write_hdf5_block_size(static_cast<std::uint32_t>(bytes), at);
    at += kBloscSizeBytes + bytes;
  }
  unit.data_bytes = static_cast<std::size_t>(at - room.data());
  unit.data.reset(new std::byte[unit.data_bytes]);
  std::memcpy(unit.data.get(), room.data(), unit.data_bytes);
}

// How the blocks of a chunk are put together.
struct Assembly {
  std::span<const CompressUnit> units;
  std::size_t bytes = 0, left = 0;  // of the chunk, and of content behind its blocks
  bool is_stored = false;
};

Assembly plan_assembly(std::size_t content_bytes, std::span<const CompressUnit> units,
                       const ChunkCoding& coding) {
  const bool is_blosc = coding.container == ChunkContainer::kBlosc;
  Assembly plan{.units = units};
  plan.left = content_bytes - bytes_in_blocks(coding, content_bytes);
  plan.bytes =
      plan.left + (is_blosc ? kBloscHeaderBytes + units.size() * kBloscSizeBytes : kHdf5ChunkHeaderBytes);
  for (const CompressUnit& unit : units) plan.bytes += unit.data_bytes;
  plan.is_stored = is_blosc && plan.bytes >= kBloscHeaderBytes + content_bytes;
  if (plan.is_stored) plan.bytes = kBloscHeaderBytes + content_bytes;
  return plan;
}

void assemble(const Assembly& plan, std::span<const std::byte> content, const ChunkCoding& coding,
              std::byte* begin) {
  const bool is_blosc = coding.container == ChunkContainer::kBlosc;
  const std::uint32_t block_bytes = block_bytes_of(coding, content.size());
  std::byte* at = begin + (is_blosc ? kBloscHeaderBytes : kHdf5ChunkHeaderBytes);
  if (is_blosc)
    write_blosc_header(
        coding, {content.size(), block_bytes, plan.bytes, parts_of(coding, block_bytes), plan.is_stored},
        begin);
  else
    write_hdf5_header(content.size(), block_bytes, begin);
  if (plan.is_stored) {
    if (!content.empty()) std::memcpy(at, content.data(), content.size());
    return;
  }
  std::byte* place = at;
  if (is_blosc) at += plan.units.size() * kBloscSizeBytes;
  for (const CompressUnit& unit : plan.units) {
    if (is_blosc) {
      store_le32(place, static_cast<std::uint32_t>(at - begin));
      place += kBloscSizeBytes;
    }
    std::memcpy(at, unit.data.get(), unit.data_bytes);
    at += unit.data_bytes;
  }
  if (plan.left != 0) std::memcpy(at, content.data() + content.size() - plan.left, plan.left);
}

// ---- Both ----

// Calls work(unit, worker) for each unit, neighbours of some size by one thread.
template <class Unit, class Bytes, class Work>
void for_units(std::span<Unit> units, unsigned threads, LooksBetweenPieces& call, const Bytes& bytes_of,
               const Work& work) {
  std::vector<std::size_t> ends;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < units.size(); ++i) {
    bytes += bytes_of(units[i]);
    if (bytes < kBytesInARow && i + 1 < units.size()) continue;
    ends.push_back(i + 1);
    bytes = 0;
  }
  for_pieces(threads, ends.size(), 1, [&](std::size_t number) {
    const LooksBetweenPieces::Here here(&call);
    look_between_pieces();
    const auto worker = idle_chunk_workers().borrow();
    for (std::size_t i = number == 0 ? 0 : ends[number - 1]; i < ends[number]; ++i) work(units[i], *worker);
  });
}

void refuse_overlapping_chunks(std::span<const ArrayChunk> chunks) {
  std::vector<std::span<const std::byte>> inputs, outputs;
  for (const ArrayChunk& chunk : chunks) {
    inputs.push_back(chunk.input);
    outputs.push_back(chunk.output);
  }
  refuse_overlaps(inputs, outputs);
}

}  // namespace

ChunkLayout chunk_layout(std::span<const std::byte> chunk, const ChunkCoding& coding) {
  check_coding(coding);
  refuse_bare(coding);
  if (coding.container == ChunkContainer::kBlosc) return read_blosc_layout(chunk);
  return coding.container == ChunkContainer::kHdf5Lz4 ? read_hdf5_lz4_layout(chunk)
                                                      : read_hdf5_bitshuffle_layout(chunk, coding);
}

std::uint64_t chunk_content_bytes(std::span<const std::byte> chunk, const ChunkCoding& coding) {
  if (coding.container == ChunkContainer::kBlosc && is_blosc2(chunk)) return blosc2_content_bytes(chunk);
  return chunk_layout(chunk, coding).content_bytes;
}

void restore_chunks(std::span<ArrayChunk> chunks, const ChunkCoding& coding, const RestoreOptions& options) {
  check_coding(coding);
  validate(options);
  refuse_overlapping_chunks(chunks);
  RestoredLayouts all = read_layouts(chunks, coding);
  CallInPieces call(options.between_pieces);
  call.run([&] {
    for_units(
        std::span(all.units), resolve_threads(options.threads), call,
        [](const RestoreUnit& unit) {
          return static_cast<std::size_t>(content_end(unit.blocks) - unit.blocks.front().content_begin);
        },
        [&](RestoreUnit& unit, ChunkWorker& worker) {
          restore_unit(unit, all.layouts[unit.chunk], chunks[unit.chunk], worker);
        });
    for_units(
        std::span(all.blosc2_units), resolve_threads(options.threads), call,
        [&](const Blosc2RestoreUnit& one) {
          return static_cast<std::size_t>(blosc2_unit_bytes(all.blosc2[one.chunk], one.unit));
        },
        [&](Blosc2RestoreUnit& one, ChunkWorker& worker) {
          one.damaged_block = restore_blosc2_unit(chunks[one.chunk].input, all.blosc2[one.chunk], one.unit,
                                                  chunks[one.chunk].output, worker);
        });
  });
  for (const Blosc2RestoreUnit& one : all.blosc2_units) {
    ArrayChunk& chunk = chunks[one.chunk];
    if (!one.damaged_block || chunk.status != Status::kOk) continue;
    chunk.status = Status::kCorruptBlock;
    chunk.message = fmt::format("block {} of chunk {} of Blosc 2 is damaged, or does not hold what it should",
                                *one.damaged_block, one.unit.chunk);
  }
  for (const RestoreUnit& unit : all.units) {
    ArrayChunk& chunk = chunks[unit.chunk];
    if (unit.status == Status::kOk || chunk.status != Status::kOk) continue;
    chunk.status = unit.status;
    const ChunkBlock& block = all.layouts[unit.chunk].blocks[unit.damaged_block];
    chunk.message =
        fmt::format("block {} of a chunk, {} bytes from byte {} on, is damaged, or does not hold {} bytes",
                    unit.damaged_block, block.bytes, block.begin, block.content_bytes);
  }
  for (ArrayChunk& chunk : chunks) chunk.output_bytes = chunk.status == Status::kOk ? chunk.output.size() : 0;
}

std::size_t chunk_bound(std::size_t content_bytes, const ChunkCoding& coding) {
  check_coding(coding);
  refuse_bare(coding);
  if (coding.container == ChunkContainer::kBlosc) {
    if (content_bytes > kBloscMostContentBytes)
      throw Error(Status::kInvalidOption,
                  fmt::format("a chunk of Blosc holds at most {} bytes, this one has {}",
                              kBloscMostContentBytes, content_bytes));
    return kBloscHeaderBytes + content_bytes;
  }
  const std::size_t block_bytes = block_bytes_of(coding, content_bytes);
  const std::size_t blocks = (content_bytes + block_bytes - 1) / block_bytes;
  const std::size_t one =
      may_store_blocks(coding) ? block_bytes : coded_block_bound(coding.format, block_bytes);
  return kHdf5ChunkHeaderBytes + blocks * kHdf5BlockSizeBytes + content_bytes + blocks * (one - block_bytes);
}

void compress_chunks(std::span<ArrayChunk> chunks, const ChunkCoding& given, const CompressOptions& options,
                     const RoomForChunk& room) {
  ChunkCoding coding = given;
  check_coding(coding);
  refuse_bare(coding);
  CompressOptions checked;
  checked.format = coding.format;
  checked.level = coding.level;
  checked.acceleration = coding.acceleration;
  coding.level = checked_options(checked).level;
  refuse_overlapping_chunks(chunks);
  std::vector<CompressUnit> units;
  std::vector<std::size_t> ends;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const std::size_t content_bytes = chunks[i].input.size();
    chunk_bound(content_bytes, coding);  // refuses too much
    const std::size_t in_blocks = bytes_in_blocks(coding, content_bytes),
                      block_bytes = block_bytes_of(coding, content_bytes);
    for (std::size_t begin = 0; begin < in_blocks; begin += block_bytes)
      units.push_back({.chunk = i,
                       .begin = begin,
                       .bytes = std::min(block_bytes, in_blocks - begin),
                       .parts = in_blocks - begin < block_bytes ? 1 : parts_of(coding, block_bytes)});
    ends.push_back(units.size());
  }
  const unsigned threads = resolve_threads(options.threads);
  CallInPieces call(options.between_pieces);
  call.run([&] {
    for_units(
        std::span(units), threads, call, [](const CompressUnit& unit) { return unit.bytes; },
        [&](CompressUnit& unit, ChunkWorker& worker) {
          compress_unit(unit, chunks[unit.chunk], coding, worker);
        });
  });
  std::vector<Assembly> plans;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    ArrayChunk& chunk = chunks[i];
    const std::size_t begin = i == 0 ? 0 : ends[i - 1];
    plans.push_back(
        plan_assembly(chunk.input.size(), std::span(units).subspan(begin, ends[i] - begin), coding));
    if (room) chunk.output = room(i, plans[i].bytes);
    const bool fits = plans[i].bytes <= chunk.output.size();
    chunk.status = fits ? Status::kOk : Status::kOutputTooSmall;
    chunk.message = fits ? "" : Error(Status::kOutputTooSmall, "a chunk of an array").what();
    chunk.output_bytes = fits ? plans[i].bytes : 0;
  }
  for_pieces(threads, chunks.size(), 4, [&](std::size_t i) {
    if (chunks[i].status == Status::kOk) assemble(plans[i], chunks[i].input, coding, chunks[i].output.data());
  });
}

}  // namespace hemstitch
