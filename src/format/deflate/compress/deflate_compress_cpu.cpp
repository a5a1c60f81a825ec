#include "format/deflate/compress/deflate_compress_cpu.hpp"

#include <isa-l/igzip_lib.h>
#include <libdeflate.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "core/status.hpp"
#include "format/deflate/block/deflate_stored.hpp"
#include "format/deflate/block/deflate_symbols.hpp"
#include "format/deflate/block/deflate_walk.hpp"
#include "format/deflate/deflate_levels.hpp"

namespace hemstitch {
namespace {

// zlib compresses content that is shorter than so many times its history, since it makes use of the history.
constexpr std::size_t kShortByHistories = 2;
constexpr int kMaxZlibLevel = 9;

std::uint8_t* bytes_of(std::span<std::byte> bytes) { return reinterpret_cast<std::uint8_t*>(bytes.data()); }
// Neither ISA-L nor zlib writes to its input.
std::uint8_t* bytes_of(std::span<const std::byte> bytes) {
  return const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(bytes.data()));
}

[[noreturn]] void throw_out_of_memory(const char* library) {
  throw Error(Status::kOutOfMemory, std::string("no memory for the working state of ") + library);
}

// Removes the final bit from a stream of DEFLATE, and ends it with an empty stored block instead. Returns
// nothing if there is no room for that.
std::optional<std::size_t> opened_end(std::span<std::byte> room, std::size_t data_bytes,
                                      std::size_t content_bytes) {
  const auto walk = walk_deflate(room.first(data_bytes));
  if (!walk || walk->content_bytes != content_bytes || (walk->end_bit + 7) / 8 != data_bytes)
    throw Error(Status::kInternal, "libdeflate wrote blocks that do not restore to their content");
  // The header of that block is three bits, all zero, like the rest of the last byte.
  const std::size_t size_at = static_cast<std::size_t>((walk->end_bit + 3 + 7) / 8);
  if (size_at + 4 > room.size()) return std::nullopt;
  const auto bit = static_cast<std::size_t>(walk->last_block_bit);
  room[bit / 8] &= ~(std::byte{1} << (bit % 8));
  if (size_at > data_bytes) room[data_bytes] = std::byte{0};
  write_deflate_stored_size(0, room.data() + size_at);
  return size_at + 4;
}

}  // namespace

struct DeflateCompressorCpu::Libraries {
  struct Isal {
    isal_zstream stream;
    std::array<std::uint8_t, ISAL_DEF_LVL2_DEFAULT> level_memory;
  };
  struct Zlib {
    explicit Zlib(int stream_level) : level(stream_level) {
      if (deflateInit2(&stream, level, Z_DEFLATED, -MAX_WBITS, MAX_MEM_LEVEL - 1, Z_DEFAULT_STRATEGY) != Z_OK)
        throw_out_of_memory("zlib");
    }
    ~Zlib() { deflateEnd(&stream); }
    Zlib(const Zlib&) = delete;
    Zlib& operator=(const Zlib&) = delete;

    z_stream stream{};
    const int level;
  };

  std::unique_ptr<Isal> isal;
  std::unique_ptr<libdeflate_compressor, decltype(&libdeflate_free_compressor)> libdeflate{
      nullptr, libdeflate_free_compressor};
  int libdeflate_level = 0;
  std::unique_ptr<Zlib> zlib;
};

DeflateCompressorCpu::DeflateCompressorCpu() : libraries_(std::make_unique<Libraries>()) {}
DeflateCompressorCpu::~DeflateCompressorCpu() = default;

std::size_t DeflateCompressorCpu::compress(std::span<const std::byte> content,
                                           std::span<const std::byte> history, int level, bool is_last,
                                           std::span<std::byte> room) {
  history = history.last(std::min<std::size_t>(history.size(), kDeflateWindowBytes));
  const DeflateLevelRow& row = kDeflateLevels[static_cast<std::size_t>(level - 1)];
  const DeflateLibraryLevel choice = is_last && history.empty() ? row.alone : row.stream;
  const std::optional<std::size_t> bytes =
      choice.library == DeflateLibraryLevel::Library::kIsal ? by_isal(content, history, is_last, room)
      : content.size() < kShortByHistories * history.size()
          ? by_zlib(content, history, std::min(level, kMaxZlibLevel), is_last, room)
          : by_libdeflate(content, choice.level, is_last, room);
  return bytes ? *bytes : write_deflate_stored(content, is_last, room.data());
}

std::optional<std::size_t> DeflateCompressorCpu::by_isal(std::span<const std::byte> content,
                                                         std::span<const std::byte> history, bool is_last,
                                                         std::span<std::byte> room) {
  if (!libraries_->isal) libraries_->isal = std::make_unique<Libraries::Isal>();
  isal_zstream& stream = libraries_->isal->stream;
  isal_deflate_init(&stream);
  stream.level = deflate_levels::kIsal.level;
  stream.level_buf = libraries_->isal->level_memory.data();
  stream.level_buf_size = static_cast<std::uint32_t>(libraries_->isal->level_memory.size());
  stream.flush = is_last ? NO_FLUSH : SYNC_FLUSH;
  stream.end_of_stream = is_last ? 1 : 0;
  if (!history.empty() && isal_deflate_set_dict(&stream, bytes_of(history),
                                                static_cast<std::uint32_t>(history.size())) != COMP_OK)
    throw Error(Status::kInternal, "ISA-L did not accept the history");
  stream.next_in = bytes_of(content);
  stream.avail_in = static_cast<std::uint32_t>(content.size());
  stream.next_out = bytes_of(room);
  stream.avail_out = static_cast<std::uint32_t>(room.size());
  if (isal_deflate(&stream) != COMP_OK) throw Error(Status::kInternal, "ISA-L could not compress a block");
  if (stream.avail_out == 0) return std::nullopt;
  return stream.total_out;
}

std::optional<std::size_t> DeflateCompressorCpu::by_libdeflate(std::span<const std::byte> content, int level,
                                                               bool is_last, std::span<std::byte> room) {
  Libraries& libraries = *libraries_;
  if (libraries.libdeflate_level != level) {
    libraries.libdeflate_level = 0;
    libraries.libdeflate.reset();  // freed before the next one is made, since they are large
    libraries.libdeflate.reset(libdeflate_alloc_compressor(level));
    if (!libraries.libdeflate) throw_out_of_memory("libdeflate");
    libraries.libdeflate_level = level;
  }
  const std::size_t bytes = libdeflate_deflate_compress(libraries.libdeflate.get(), content.data(),
                                                        content.size(), room.data(), room.size());
  if (bytes == 0) return std::nullopt;
  return is_last ? bytes : opened_end(room, bytes, content.size());
}

std::optional<std::size_t> DeflateCompressorCpu::by_zlib(std::span<const std::byte> content,
                                                         std::span<const std::byte> history, int level,
                                                         bool is_last, std::span<std::byte> room) {
  std::unique_ptr<Libraries::Zlib>& zlib = libraries_->zlib;
  if (!zlib || zlib->level != level) {
    zlib.reset();
    zlib = std::make_unique<Libraries::Zlib>(level);
  }
  z_stream& stream = zlib->stream;
  deflateReset(&stream);
  if (deflateSetDictionary(&stream, bytes_of(history), static_cast<unsigned>(history.size())) != Z_OK)
    throw Error(Status::kInternal, "zlib did not accept the history");
  stream.next_in = bytes_of(content);
  stream.avail_in = static_cast<unsigned>(content.size());
  stream.next_out = bytes_of(room);
  stream.avail_out = static_cast<unsigned>(room.size());
  deflate(&stream, is_last ? Z_FINISH : Z_SYNC_FLUSH);
  if (stream.avail_out == 0) return std::nullopt;
  return stream.total_out;
}

}  // namespace hemstitch
