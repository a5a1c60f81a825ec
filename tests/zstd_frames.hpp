// Frames of Zstandard for tests: by libzstd, and by hand, which no encoder writes; and what libzstd says of them.
#pragma once

#include <xxhash.h>
#include <zdict.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/bytes.hpp"
#include "format/zstd/compress/zstd_sequence_writer.hpp"
#include "format/zstd/frame/zstd_frame_header.hpp"
#include "format/zstd/restore/zstd_restore_reference.hpp"
#include "guarded_buffer.hpp"
#include "shapes.hpp"

namespace hemstitch::testing {

// ---- libzstd ----

enum class ZstdOutcome { kWhole, kCutOff, kRefused };
struct ZstdRead {
  ZstdOutcome outcome = ZstdOutcome::kRefused;
  Bytes content;
  std::size_t used_bytes = 0;
  std::string why;
};

// What the streaming decoder makes of the frame at the start of `data`, given in pieces: a small frame that it gets as a whole
// goes through its other decoder (docs/formats/zstd.md, "Verdicts").
inline ZstdRead read_by_libzstd(std::span<const std::byte> data, std::span<const std::byte> dictionary = {},
                                std::size_t piece_bytes = 7) {
  const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(ZSTD_createDCtx(), ZSTD_freeDCtx);
  ZstdRead read;
  if (!dictionary.empty() &&
      ZSTD_isError(ZSTD_DCtx_loadDictionary(context.get(), dictionary.data(), dictionary.size())) != 0)
    return read;
  ZSTD_inBuffer input{data.data(), 0, 0};
  Bytes piece(1 << 14);
  for (;;) {
    ZSTD_outBuffer output{piece.data(), piece.size(), 0};
    const std::size_t before = input.pos;
    input.size = std::min(data.size(), before + std::min(piece_bytes, data.size()));
    const std::size_t left = ZSTD_decompressStream(context.get(), &output, &input);
    read.content.insert(read.content.end(), piece.begin(),
                        piece.begin() + static_cast<std::ptrdiff_t>(output.pos));
    read.used_bytes = input.pos;
    if (ZSTD_isError(left) != 0) {
      read.outcome = ZstdOutcome::kRefused;
      read.why = ZSTD_getErrorName(left);
      return read;
    }
    read.outcome = left == 0 ? ZstdOutcome::kWhole : ZstdOutcome::kCutOff;
    if (left == 0 || (input.pos == before && output.pos == 0)) return read;
  }
}

// ---- A frame by our restorers ----

// Gives the decoder pieces of `piece_bytes`, and takes as many at once, or what it lends.
// make(window_bytes, dictionary) returns the decoder.
template <class Make>
ZstdRead read_in_pieces(std::span<const std::byte> data, std::span<const std::byte> dictionary,
                        std::size_t piece_bytes, const Make& make) {
  ZstdRead read;
  if (data.size() < 5) {
    read.outcome = ZstdOutcome::kCutOff;
    return read;
  }
  const auto refuse = [&](std::string why) {
    read.outcome = ZstdOutcome::kRefused;
    read.why = std::move(why);
    return read;
  };
  if (load_le32(data.data()) != kZstdMagic) return refuse("magic number");
  const std::size_t rest_bytes = zstd_header_rest_bytes(data[4]);
  if (data.size() < 4 + rest_bytes) {
    read.outcome = ZstdOutcome::kCutOff;
    return read;
  }
  const auto header = read_zstd_header(data.subspan(4, rest_bytes));
  if (!header) return refuse("reserved bit");
  constexpr std::uint64_t kMostWindowBytes = (1 << 27) + 1;
  if (header->window_bytes > kMostWindowBytes) return refuse("window");
  try {
    if (header->dictionary_id != 0 && header->dictionary_id != zstd_dictionary_id(dictionary))
      return refuse("dictionary");
    const auto decoder = make(header->window_bytes, read_zstd_dictionary(dictionary));
    std::size_t at = 4 + rest_bytes;
    GuardedBuffer guarded(piece_bytes);
    const std::span<std::byte> piece = guarded.bytes();
    for (;;) {
      const StreamStep step =
          decoder->restore(data.subspan(at, std::min(piece_bytes, data.size() - at)), piece);
      at += step.input_bytes;
      read.used_bytes = at - decoder->ahead_bytes();
      const std::span<const std::byte> content =
          step.lent.empty() ? std::span(piece).first(step.output_bytes) : step.lent;
      read.content.insert(read.content.end(), content.begin(), content.end());
      if (step.status != Status::kOk) return refuse(std::string(step.detail));
      if (header->content_bytes && read.content.size() > *header->content_bytes)
        return refuse("content size");
      if (step.ended) break;
      if (step.output_bytes == 0 && step.input_bytes == 0) {
        read.outcome = ZstdOutcome::kCutOff;
        return read;
      }
    }
    if (header->content_bytes && read.content.size() != *header->content_bytes) return refuse("content size");
    if (header->has_checksum) {
      if (data.size() - at < 4) {
        read.outcome = ZstdOutcome::kCutOff;
        return read;
      }
      if (load_le32(data.data() + at) !=
          static_cast<std::uint32_t>(XXH64(read.content.data(), read.content.size(), 0)))
        return refuse("checksum");
      at += 4;
    }
    read.outcome = ZstdOutcome::kWhole;
    read.used_bytes = at;
    return read;
  } catch (const ZstdDamage& damage) {
    return refuse(std::string(damage.rule));
  }
}

inline ZstdRead read_by_reference(std::span<const std::byte> data, std::span<const std::byte> dictionary = {},
                                  std::size_t piece_bytes = 1 << 14) {
  return read_in_pieces(data, dictionary, piece_bytes, [](std::uint64_t window_bytes, ZstdDictionary before) {
    return std::make_unique<ZstdReferenceDecoder>(window_bytes, std::move(before));
  });
}

// Whether libzstd 1.5.4 may take what ours refused (docs/formats/zstd.md, "Verdicts"): newer versions refuse it, or it depends
// on how libzstd works. A magic number may be that of another frame that libzstd reads.
inline bool only_we_refuse(const ZstdRead& ours) {
  constexpr const char* kRules[] = {"magic number",
                                    "an offset is 0",
                                    "a stream of literals does not end",
                                    "no mark at its end",
                                    "weights of a Huffman table are cut off",
                                    "codes weights above 11",
                                    "an FSE table is cut off",
                                    "bits are left after the last sequence",
                                    "reserved bits of the tables' modes",
                                    "sequences are cut off",
                                    "before the window",
                                    "bytes follow the sequences",
                                    "a compressed block has no bytes",
                                    "content size"};
  return ours.outcome == ZstdOutcome::kRefused &&
         std::any_of(std::begin(kRules), std::end(kRules),
                     [&](const char* rule) { return ours.why.find(rule) != std::string::npos; });
}

// Whether libzstd 1.5.4 may refuse, in pieces, what ours took.
inline bool only_libzstd_refuses(const ZstdRead& ours) {
  return ours.outcome == ZstdOutcome::kWhole &&
         ours.content.empty();  // a block of type RLE, in a window of no bytes
}

struct ZstdSettings {
  int level = 3;
  int window_log = 0;
  bool checksum = true;
  bool content_size = true;
  std::span<const std::byte> dictionary = {};
};

inline Bytes written_by_libzstd(std::span<const std::byte> content, const ZstdSettings& settings = {}) {
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(), ZSTD_freeCCtx);
  const auto set = [&](ZSTD_cParameter parameter, int value) {
    ZSTD_CCtx_setParameter(context.get(), parameter, value);
  };
  set(ZSTD_c_compressionLevel, settings.level);
  if (settings.window_log != 0) set(ZSTD_c_windowLog, settings.window_log);
  set(ZSTD_c_checksumFlag, settings.checksum ? 1 : 0);
  set(ZSTD_c_contentSizeFlag, settings.content_size ? 1 : 0);
  if (!settings.dictionary.empty())
    ZSTD_CCtx_loadDictionary(context.get(), settings.dictionary.data(), settings.dictionary.size());
  Bytes frame(ZSTD_compressBound(content.size()));
  const std::size_t bytes =
      ZSTD_compress2(context.get(), frame.data(), frame.size(), content.data(), content.size());
  if (ZSTD_isError(bytes) != 0) throw std::runtime_error(ZSTD_getErrorName(bytes));
  frame.resize(bytes);
  return frame;
}

// Of many short records that are alike.
inline Bytes trained_dictionary(std::size_t most_bytes = 4096) {
  Bytes samples;
  std::vector<std::size_t> sizes;
  for (std::uint32_t i = 0; i < 400; ++i) {
    const Bytes record = wordy_bytes(200 + i, 7 + i);
    samples.insert(samples.end(), record.begin(), record.end());
    sizes.push_back(record.size());
  }
  Bytes dictionary(most_bytes);
  const std::size_t bytes = ZDICT_trainFromBuffer(dictionary.data(), dictionary.size(), samples.data(),
                                                  sizes.data(), static_cast<unsigned>(sizes.size()));
  if (ZDICT_isError(bytes) != 0) throw std::runtime_error(ZDICT_getErrorName(bytes));
  dictionary.resize(bytes);
  return dictionary;
}

// ---- By hand ----

inline void put_number(Bytes& to, std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) to.push_back(static_cast<std::byte>(value >> 8 * i));
}

inline Bytes numbers(std::initializer_list<unsigned> values) {
  Bytes bytes;
  for (const unsigned value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

class HandMadeFrame {
 public:
  explicit HandMadeFrame(std::uint64_t window_bytes = 1 << 20) {
    bytes_.resize(kZstdMostHeaderBytes);
    bytes_.resize(write_zstd_header({.window_bytes = window_bytes}, bytes_.data()));
  }
  HandMadeFrame& block(ZstdBlockType type, std::size_t size, std::span<const std::byte> data) {
    last_ = bytes_.size();
    put_number(bytes_, size << 3 | static_cast<std::uint64_t>(type) << 1, kZstdBlockHeaderBytes);
    bytes_.insert(bytes_.end(), data.begin(), data.end());
    return *this;
  }
  HandMadeFrame& raw(std::span<const std::byte> data) {
    return block(ZstdBlockType::kRaw, data.size(), data);
  }
  HandMadeFrame& rle(unsigned byte, std::size_t count) {
    return block(ZstdBlockType::kRle, count, numbers({byte}));
  }
  HandMadeFrame& compressed(std::span<const std::byte> data) {
    return block(ZstdBlockType::kCompressed, data.size(), data);
  }
  Bytes end() {
    bytes_[last_] |= std::byte{1};
    return bytes_;
  }

 private:
  Bytes bytes_;
  std::size_t last_ = 0;
};

// A section of literals, raw or of one byte, with a header of so many bytes: 1, 2 or 3.
inline Bytes plain_literals(std::span<const std::byte> literals, std::size_t header_bytes, bool rle = false) {
  const unsigned format = header_bytes == 1 ? 0 : header_bytes == 2 ? 1 : 3;
  Bytes section;
  put_number(section, literals.size() << (header_bytes == 1 ? 3 : 4) | format << 2 | (rle ? 1U : 0U),
             header_bytes);
  section.insert(section.end(), literals.begin(), rle ? literals.begin() + 1 : literals.end());
  return section;
}

// A section of coded literals: bytes 0 and 1 alone, with codes of one bit, so that one byte holds eight. A
// header of 3, 4 or 5 bytes; only the first has one stream or four. Without the table's description if treeless.
inline Bytes coded_literals(std::size_t count, std::size_t header_bytes, bool four_streams, bool treeless) {
  Bytes data;
  if (!treeless) data = numbers({128, 0x10});  // one weight of 1; the other one follows from it
  const auto stream = [](std::size_t symbols) {
    Bytes bytes(symbols / 8 + 1, std::byte{0x96});
    bytes.back() = static_cast<std::byte>(1U << symbols % 8 | (0x96U & ((1U << symbols % 8) - 1)));
    return bytes;
  };
  if (four_streams) {
    const std::size_t each = (count + 3) / 4;
    Bytes streams;
    for (int i = 0; i < 4; ++i) {
      const Bytes one = stream(i < 3 ? each : count - std::min(count, 3 * each));
      if (i < 3) put_number(data, one.size(), 2);
      streams.insert(streams.end(), one.begin(), one.end());
    }
    data.insert(data.end(), streams.begin(), streams.end());
  } else {
    const Bytes one = stream(count);
    data.insert(data.end(), one.begin(), one.end());
  }
  const unsigned width = header_bytes == 3 ? 10 : header_bytes == 4 ? 14 : 18;
  const unsigned format =
      header_bytes == 3 ? (four_streams ? 1 : 0) : static_cast<unsigned>(header_bytes) - 2;
  Bytes section;
  put_number(section,
             static_cast<std::uint64_t>(data.size()) << (4 + width) | static_cast<std::uint64_t>(count) << 4 |
                 format << 2 | (treeless ? 3U : 2U),
             header_bytes);
  section.insert(section.end(), data.begin(), data.end());
  return section;
}

// A section of sequences, each table predefined or of a single code.
inline Bytes sequences_section(std::span<const ZstdSequence> sequences,
                               const std::array<std::optional<std::uint8_t>, 3>& single_codes = {}) {
  const std::array<const ZstdCodeKind*, 3> kinds{&kZstdLiteralKind, &kZstdOffsetKind, &kZstdMatchKind};
  std::array<ZstdTable, 3> tables;
  std::array<Bytes, 3> described;
  std::array<ZstdTableMode, 3> modes{};
  std::array<std::span<const std::byte>, 3> descriptions;
  std::array<const ZstdTable*, 3> places{};
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    tables[i] = single_codes[i] ? make_zstd_rle_table(*single_codes[i])
                                : make_zstd_table(kinds[i]->predefined, kinds[i]->predefined_log);
    if (single_codes[i]) described[i] = numbers({*single_codes[i]});
    modes[i] = single_codes[i] ? ZstdTableMode::kRle : ZstdTableMode::kPredefined;
    descriptions[i] = described[i];
    places[i] = &tables[i];
  }
  return write_zstd_sequences(sequences, modes, descriptions, places).value();
}

inline Bytes joined(std::initializer_list<Bytes> parts) {
  Bytes whole;
  for (const Bytes& part : parts) whole.insert(whole.end(), part.begin(), part.end());
  return whole;
}

}  // namespace hemstitch::testing
