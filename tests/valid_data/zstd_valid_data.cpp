// Frames of Zstandard, block by block: tables are chosen first, then sequences of what these can say, then literals.
#include <xxhash.h>

#include <array>
#include <numeric>
#include <optional>

#include "choices.hpp"
#include "format/zstd/compress/zstd_sequence_writer.hpp"
#include "format/zstd/frame/zstd_frame_header.hpp"
#include "valid_data.hpp"
#include "writers.hpp"

namespace hemstitch::testing {
namespace {

constexpr unsigned kLeastLog = 5;

// ---- FSE (4.1) ----

// `symbols` are ascending, at most 2^log of them, of which each gets at least a cell.
std::vector<int> random_probabilities(Choices& choices, unsigned log,
                                      const std::vector<std::size_t>& symbols) {
  const std::size_t cells = std::size_t{1} << log;
  std::vector<int> probabilities(symbols.back() + 1);
  const bool some_rare = choices.one_in(2);
  std::vector<std::size_t> common;
  for (const std::size_t symbol : symbols) {
    probabilities[symbol] = some_rare && choices.one_in(2) ? -1 : 1;
    if (probabilities[symbol] == 1) common.push_back(symbol);
  }
  std::size_t left = cells - symbols.size();
  if (common.empty() && left > 0) {
    common.push_back(choices.one_of(symbols));
    probabilities[common.back()] = 1;
  }
  while (left > 0) {
    const std::size_t some = choices.one_in(3) ? left : 1 + choices.below(left);
    probabilities[choices.one_of(common)] += static_cast<int>(some);
    left -= some;
  }
  return probabilities;
}

Bytes fse_description(const std::vector<int>& probabilities, unsigned log) {
  BitWriter bits;
  bits.put(log - kLeastLog, 4);
  int remaining = (1 << log) + 1;
  for (std::size_t symbol = 0; symbol < probabilities.size(); ++symbol) {
    const int probability = probabilities[symbol], value = probability + 1;
    const auto width = static_cast<unsigned>(std::bit_width(static_cast<unsigned>(remaining)));
    const int half = 1 << (width - 1), short_values = 2 * half - 1 - remaining;
    if (value < short_values)
      bits.put(static_cast<unsigned>(value), width - 1);
    else
      bits.put(static_cast<unsigned>(value >= half ? value + short_values : value), width);
    remaining -= probability < 0 ? 1 : probability;
    if (probability != 0) continue;
    std::size_t zeros = 0;
    while (probabilities[symbol + 1 + zeros] == 0) ++zeros;
    symbol += zeros;
    for (; zeros >= 3; zeros -= 3) bits.put(3, 2);
    bits.put(zeros, 2);
  }
  return bits.bytes();
}

struct DescribedTable {
  ZstdTable table;
  Bytes description;
};

// `needed`, and some of the other symbols up to `most_symbol`.
DescribedTable random_fse(Choices& choices, unsigned most_log, std::size_t most_symbol,
                          const std::vector<std::size_t>& needed, bool more_than_one = false) {
  const auto log = static_cast<unsigned>(choices.between(kLeastLog, most_log));
  std::vector<bool> has(most_symbol + 1);
  for (const std::size_t symbol : needed) has[symbol] = true;
  std::size_t left = std::min(std::size_t{1} << log, has.size()) - needed.size();
  left = std::max(choices.between(0, left), std::size_t{more_than_one && needed.size() < 2 ? 1U : 0U});
  while (left > 0) {
    const std::size_t symbol = choices.below(has.size());
    if (has[symbol]) continue;
    has[symbol] = true;
    --left;
  }
  std::vector<std::size_t> symbols;
  for (std::size_t symbol = 0; symbol < has.size(); ++symbol)
    if (has[symbol]) symbols.push_back(symbol);
  DescribedTable made;
  made.description = fse_description(random_probabilities(choices, log, symbols), log);
  std::size_t used_bytes = 0;
  made.table = read_zstd_table(made.description, most_log, static_cast<unsigned>(most_symbol), used_bytes);
  return made;
}

// ---- Huffman (4.2) ----

struct Code {
  std::uint32_t value = 0;
  unsigned bits = 0;
};
struct Huffman {
  std::array<Code, 256> codes{};
  std::vector<std::uint8_t> symbols;
  Bytes description;
};

// 4.2.1.2: two states take turns. Nothing if that takes too many bytes.
std::optional<Bytes> weights_by_fse(Choices& choices, const std::vector<std::uint8_t>& weights) {
  constexpr unsigned kMostLog = 6;
  constexpr std::size_t kMostWeight = 11, kMostBytes = 127;
  if (weights.size() < 2) return std::nullopt;
  std::vector<std::size_t> needed(weights.begin(), weights.end());
  std::sort(needed.begin(), needed.end());
  needed.erase(std::unique(needed.begin(), needed.end()), needed.end());
  const DescribedTable made = random_fse(choices, kMostLog, kMostWeight, needed, true);
  const ZstdTable& table = made.table;
  std::vector<std::size_t> states(weights.size());
  const auto choose = [&](std::size_t i, const auto& fits) {
    std::vector<std::size_t> fitting;
    for (std::size_t state = 0; state < table.cells.size(); ++state)
      if (table.cells[state].symbol == weights[i] && fits(table.cells[state])) fitting.push_back(state);
    states[i] = choices.one_of(fitting);
  };
  BitWriter bits;
  for (std::size_t i = weights.size(); i-- > 0;) {
    if (i + 1 == weights.size()) {
      choose(i, [](const ZstdCell&) { return true; });
    } else if (i + 2 == weights.size()) {
      choose(i, [](const ZstdCell& cell) { return cell.bits > 0; });  // that there are none ends the stream
    } else {
      const std::size_t next = states[i + 2];
      choose(i, [&](const ZstdCell& cell) {
        return next >= cell.base && next - cell.base < std::size_t{1} << cell.bits;
      });
      bits.put(next - table.cells[states[i]].base, table.cells[states[i]].bits);
    }
  }
  bits.put(states[1], table.log);
  bits.put(states[0], table.log);
  Bytes data = made.description;
  append(data, bits.with_mark());
  if (data.size() > kMostBytes) return std::nullopt;
  data.insert(data.begin(), static_cast<std::byte>(data.size()));
  return data;
}

// 4.2.1.1
std::optional<Bytes> direct_weights(const std::vector<std::uint8_t>& weights) {
  constexpr std::size_t kMostWeights = 128;
  if (weights.size() > kMostWeights) return std::nullopt;
  Bytes data{static_cast<std::byte>(127 + weights.size())};
  for (std::size_t i = 0; i < weights.size(); i += 2)
    data.push_back(static_cast<std::byte>(weights[i] << 4 | (i + 1 < weights.size() ? weights[i + 1] : 0)));
  return data;
}

Huffman random_huffman(Choices& choices) {
  constexpr unsigned kMostBits = 11;
  for (;;) {
    const std::size_t count = 2 + choices.up_to(254);
    const std::vector<unsigned> lengths = random_code_lengths(choices, count, kMostBits);
    const unsigned most_bits = *std::max_element(lengths.begin(), lengths.end());
    // Any symbols, in any order; or the lowest ones.
    const std::size_t alphabet = choices.one_in(2) ? count : count + choices.below(257 - count);
    std::vector<std::size_t> order(alphabet);
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t i = alphabet; i > 1; --i) std::swap(order[i - 1], order[choices.below(i)]);
    std::vector<std::uint8_t> weights(alphabet);
    for (std::size_t i = 0; i < count; ++i)
      weights[order[i]] = static_cast<std::uint8_t>(most_bits + 1 - lengths[i]);
    Huffman made;
    std::uint32_t at = 0;
    for (unsigned weight = 1; weight <= most_bits; ++weight)
      for (std::size_t symbol = 0; symbol < alphabet; ++symbol) {
        if (weights[symbol] != weight) continue;
        made.codes[symbol] = {at >> (weight - 1), most_bits + 1 - weight};
        at += 1U << (weight - 1);
      }
    for (std::size_t symbol = 0; symbol < alphabet; ++symbol)
      if (weights[symbol] != 0) made.symbols.push_back(static_cast<std::uint8_t>(symbol));
    weights.resize(made.symbols.back());  // the last one is not given
    const bool direct_first = choices.one_in(2);
    auto description = direct_first ? direct_weights(weights) : weights_by_fse(choices, weights);
    if (!description) description = direct_first ? weights_by_fse(choices, weights) : direct_weights(weights);
    if (!description) continue;
    made.description = *description;
    return made;
  }
}

Bytes huffman_stream(std::span<const std::byte> literals, const Huffman& huffman) {
  BitWriter bits;
  for (std::size_t i = literals.size(); i-- > 0;) {
    const Code code = huffman.codes[static_cast<std::size_t>(literals[i])];
    bits.put(code.value, code.bits);
  }
  return bits.with_mark();
}

// ---- Literals (3.1.1.3.1) ----

constexpr std::array kLiteralsTypes{ZstdLiteralsType::kRaw, ZstdLiteralsType::kRle,
                                    ZstdLiteralsType::kCompressed, ZstdLiteralsType::kTreeless};

Bytes plain_section(Choices& choices, std::span<const std::byte> literals, bool rle) {
  const std::size_t least_bytes = literals.size() < 1 << 5 ? 1 : literals.size() < 1 << 12 ? 2 : 3;
  const std::size_t header_bytes = choices.between(least_bytes, 3);
  const unsigned format = header_bytes == 1 ? 0 : header_bytes == 2 ? 1 : 3;
  Bytes section;
  put_le(section, literals.size() << (header_bytes == 1 ? 3 : 4) | format << 2 | (rle ? 1U : 0U),
         header_bytes);
  append(section, rle ? literals.first(1) : literals);
  return section;
}

// Nothing if no header has room for it.
std::optional<Bytes> coded_section(Choices& choices, std::span<const std::byte> literals,
                                   const Huffman& huffman, bool treeless) {
  constexpr std::size_t kLeastOfFour = 6;
  constexpr std::array<unsigned, 4> kWidths{10, 10, 14, 18};
  const std::size_t count = literals.size();
  for (std::size_t format = choices.below(4); format < 4; ++format) {
    const bool four_streams = format != 0;
    if (four_streams && count < kLeastOfFour) return std::nullopt;
    Bytes data;
    if (!treeless) data = huffman.description;
    if (four_streams) {
      const std::size_t each = (count + 3) / 4;
      Bytes streams;
      for (std::size_t i = 0; i < 4; ++i) {
        const Bytes stream =
            huffman_stream(i < 3 ? literals.subspan(i * each, each) : literals.subspan(3 * each), huffman);
        if (i < 3) put_le(data, stream.size(), 2);
        append(streams, stream);
      }
      append(data, streams);
    } else {
      append(data, huffman_stream(literals, huffman));
    }
    const std::size_t end = std::size_t{1} << kWidths[format];
    if (count >= end || data.size() >= end) continue;
    Bytes section;
    put_le(section,
           static_cast<std::uint64_t>(data.size()) << (4 + kWidths[format]) | std::uint64_t{count} << 4 |
               format << 2 | (treeless ? 3U : 2U),
           format < 2 ? 3 : format + 2);
    append(section, data);
    return section;
  }
  return std::nullopt;
}

// ---- Frames ----

constexpr std::array<const ZstdCodeKind*, 3> kKinds{&kZstdLiteralKind, &kZstdOffsetKind, &kZstdMatchKind};
enum KindNumber : std::size_t { kLiterals, kOffsets, kMatches };

// What a block takes over from those before it, or from the dictionary.
struct Kept {
  std::optional<Huffman> huffman;
  std::array<std::optional<ZstdTable>, 3> tables;
  ZstdRepeats repeats;
};

class Generator {
 public:
  Generator(std::uint64_t seed, std::size_t most_content_bytes)
      : choices_(seed),
        content_left_(choices_.one_in(4) ? most_content_bytes : choices_.up_to(most_content_bytes)) {}

  ValidData make() {
    ValidData made;
    if (choices_.one_in(4)) make_dictionary(made.dictionary);
    content_ =
        Bytes(made.dictionary.end() - static_cast<std::ptrdiff_t>(dictionary_bytes_), made.dictionary.end());
    write_header();
    do make_block();
    while (content_left_ > 0 || choices_.one_in(4));
    frame_[last_block_] |= std::byte{1};
    made.content.assign(content_.begin() + static_cast<std::ptrdiff_t>(dictionary_bytes_), content_.end());
    if (has_checksum_) put_le(frame_, XXH64(made.content.data(), made.content.size(), 0), 4);
    made.data = std::move(frame_);
    return made;
  }

 private:
  std::size_t frame_bytes() const { return content_.size() - dictionary_bytes_; }

  // Any content, or tables before it (5).
  void make_dictionary(Bytes& dictionary) {
    dictionary_bytes_ = 1 + choices_.up_to(3000);
    if (choices_.one_in(2)) {
      constexpr std::uint32_t kMagic = 0xEC30A437;
      id_ = 1 + static_cast<std::uint32_t>(choices_.up_to(UINT32_MAX - 1));
      put_le(dictionary, kMagic, 4);
      put_le(dictionary, id_, 4);
      kept_.huffman = random_huffman(choices_);
      append(dictionary, kept_.huffman->description);
      for (const KindNumber kind : {kOffsets, kMatches, kLiterals}) {
        auto [table, description] = random_own_table(kind, content_left_);
        append(dictionary, description);
        kept_.tables[kind] = std::move(table);
      }
      std::array<std::uint32_t, kZstdRepeatCount> offsets;
      for (std::uint32_t& offset : offsets) {
        offset = static_cast<std::uint32_t>(choices_.between(1, dictionary_bytes_));
        put_le(dictionary, offset, 4);
      }
      kept_.repeats = ZstdRepeats(offsets);
    }
    append(dictionary, choices_.bytes(dictionary_bytes_));
  }

  void write_header() {
    constexpr std::array<std::size_t, 4> kIdBytes{0, 1, 2, 4};
    const std::size_t bytes = content_left_;
    const bool single_segment = choices_.one_in(4);
    has_checksum_ = choices_.one_in(2);
    // How the content's size is written: in 1 byte (or not), 2, 4, 8.
    std::vector<std::size_t> size_flags{2, 3};
    if (!single_segment || bytes < 256) size_flags.push_back(0);
    if (bytes >= 256 && bytes < 65536 + 256) size_flags.push_back(1);
    const std::size_t size_flag = choices_.one_of(size_flags);
    std::size_t id_flag = choices_.below(4);
    if (id_flag != 0 && kIdBytes[id_flag] < 4 && id_ >> 8 * kIdBytes[id_flag] != 0) id_flag = 3;
    put_le(frame_, kZstdMagic, 4);
    const bool unused_bit = choices_.one_in(8);
    put_le(frame_,
           size_flag << 6 | (single_segment ? 1U : 0U) << 5 | (unused_bit ? 1U : 0U) << 4 |
               (has_checksum_ ? 1U : 0U) << 2 | id_flag,
           1);
    window_bytes_ = bytes;
    if (!single_segment) {
      constexpr std::size_t kMostExponent = 17;  // 128 MB
      const std::size_t exponent = choices_.one_in(4) ? choices_.below(kMostExponent) : choices_.below(4),
                        eighths = choices_.below(8);
      put_le(frame_, exponent << 3 | eighths, 1);
      window_bytes_ = (std::size_t{1} << (10 + exponent)) / 8 * (8 + eighths);
    }
    put_le(frame_, id_, kIdBytes[id_flag]);
    if (size_flag != 0 || single_segment)
      put_le(frame_, size_flag == 1 ? bytes - 256 : bytes, std::size_t{1} << size_flag);
    most_block_bytes_ = std::min(window_bytes_, kZstdMostBlockBytes);
  }

  void put_block(ZstdBlockType type, std::size_t size, std::span<const std::byte> data) {
    last_block_ = frame_.size();
    put_le(frame_, size << 3 | static_cast<std::uint64_t>(type) << 1, kZstdBlockHeaderBytes);
    append(frame_, data);
  }

  void make_block() {
    const std::size_t most = std::min(content_left_, most_block_bytes_), before = content_.size();
    const std::size_t kind = choices_.below(8);
    if (kind == 0 || most == 0) {
      put_block(choices_.one_in(2) ? ZstdBlockType::kRaw : ZstdBlockType::kRle, 0, {});
      if (last_is_rle()) frame_.push_back(static_cast<std::byte>(choices_.below(256)));
    } else if (kind == 1) {
      append(content_, choices_.bytes(1 + choices_.up_to(most - 1)));
      put_block(ZstdBlockType::kRaw, content_.size() - before, std::span(content_).subspan(before));
    } else if (kind == 2) {
      content_.resize(before + 1 + choices_.up_to(most - 1), static_cast<std::byte>(choices_.below(256)));
      put_block(ZstdBlockType::kRle, content_.size() - before, std::span(content_).last(1));
    } else {
      const Kept kept = kept_;
      const Bytes data = compressed_block(most);
      if (data.size() <= most_block_bytes_) {
        put_block(ZstdBlockType::kCompressed, data.size(), data);
      } else {
        kept_ = kept;
        put_block(ZstdBlockType::kRaw, content_.size() - before, std::span(content_).subspan(before));
      }
    }
    content_left_ -= content_.size() - before;
  }
  bool last_is_rle() const { return (static_cast<unsigned>(frame_[last_block_]) >> 1 & 3) == 1; }

  // ---- Compressed blocks ----

  // A code that a sequence can have within `room` bytes, so that a table is not one of codes that nothing has.
  std::size_t usable_code(KindNumber kind, std::size_t room) {
    constexpr std::size_t kMostLiterals = 12, kMostOffset = 4, kMostMatch = 40;
    if (kind == kOffsets)
      return choices_.one_in(3) ? std::bit_width(content_.size()) : choices_.below(kMostOffset);
    if (choices_.one_in(3)) {
      const std::span<const ZstdCode> codes = kind == kLiterals ? std::span<const ZstdCode>(kZstdLiteralCodes)
                                                                : std::span<const ZstdCode>(kZstdMatchCodes);
      for (std::size_t code = codes.size() - choices_.up_to(codes.size() - 1); code-- > 0;)
        if (codes[code].base < room) return code;
    }
    return choices_.below(kind == kLiterals ? kMostLiterals : kMostMatch);
  }

  DescribedTable random_own_table(KindNumber kind, std::size_t room) {
    std::vector<std::size_t> needed{usable_code(kind, room)};
    return random_fse(choices_, kKinds[kind]->most_log, kKinds[kind]->most_symbol, needed);
  }

  // At most `most` bytes of content, which it adds. Returns the block's data.
  Bytes compressed_block(std::size_t most) {
    const std::size_t begin = content_.size();
    // Which literals come next.
    ZstdLiteralsType type = choices_.one_of(kLiteralsTypes);
    if (type == ZstdLiteralsType::kTreeless && !kept_.huffman) type = ZstdLiteralsType::kCompressed;
    const std::optional<Huffman> before = kept_.huffman;
    if (type == ZstdLiteralsType::kCompressed) kept_.huffman = random_huffman(choices_);
    Bytes literals;
    const auto same = static_cast<std::byte>(choices_.below(256));
    const auto add_literals = [&](std::size_t count) {
      for (; count > 0; --count) {
        literals.push_back(type == ZstdLiteralsType::kRaw ? static_cast<std::byte>(choices_.below(256))
                           : type == ZstdLiteralsType::kRle
                               ? same
                               : std::byte{choices_.one_of(kept_.huffman->symbols)});
        content_.push_back(literals.back());
      }
    };

    // Many sequences must be short ones.
    constexpr std::size_t kThreeBytes = 0x7F00, kLeastMatch = 3;
    const bool many = most >= kLeastMatch * kThreeBytes && choices_.one_in(8);
    std::size_t left = many                 ? kThreeBytes + choices_.up_to(most / kLeastMatch - kThreeBytes)
                       : choices_.one_in(6) ? 0
                       : choices_.one_in(3) ? 1
                                            : 1 + choices_.up_to(600);
    const auto kept_tables = kept_.tables;
    std::array<ZstdTableMode, 3> modes{};
    std::array<Bytes, 3> descriptions;
    for (const KindNumber kind : {kLiterals, kOffsets, kMatches}) {
      modes[kind] = static_cast<ZstdTableMode>(choices_.below(4));
      if (modes[kind] == ZstdTableMode::kRepeat && !kept_.tables[kind]) modes[kind] = ZstdTableMode::kOwn;
      if (many && kind != kOffsets) modes[kind] = ZstdTableMode::kRle;
      choose_table(kind, modes[kind], most, many ? std::optional<std::size_t>(0) : std::nullopt,
                   descriptions[kind]);
    }
    std::vector<ZstdSequence> sequences;
    for (; left > 0; --left) {
      const std::size_t room = most - (content_.size() - begin);
      const std::optional<ZstdSequence> sequence = random_sequence(room);
      if (!sequence) break;
      add_literals(sequence->literals);
      const std::size_t offset = kept_.repeats.take(*sequence);
      for (std::uint32_t i = 0; i < sequence->match; ++i)
        content_.push_back(content_[content_.size() - offset]);
      sequences.push_back(*sequence);
    }
    add_literals(choices_.up_to(most - (content_.size() - begin)));

    std::optional<Bytes> data;
    if (type == ZstdLiteralsType::kCompressed || type == ZstdLiteralsType::kTreeless)
      if (!literals.empty())
        data = coded_section(choices_, literals, *kept_.huffman, type == ZstdLiteralsType::kTreeless);
    if (!data) {
      kept_.huffman = before;
      data = plain_section(choices_, literals, type == ZstdLiteralsType::kRle && !literals.empty());
    }
    if (sequences.empty()) {
      kept_.tables = kept_tables;
      data->push_back(std::byte{0});
      return *data;
    }
    const auto& tables = kept_.tables;
    Bytes section =
        write_zstd_sequences(sequences, modes, {descriptions[0], descriptions[1], descriptions[2]},
                             {&*tables[0], &*tables[1], &*tables[2]})
            .value();
    // A count of one byte may take two.
    if (sequences.size() < 128 && choices_.one_in(4)) section.insert(section.begin(), std::byte{128});
    append(*data, section);
    return *data;
  }

  // An RLE table may be told its code.
  void choose_table(KindNumber kind, ZstdTableMode mode, std::size_t room, std::optional<std::size_t> code,
                    Bytes& description) {
    std::optional<ZstdTable>& table = kept_.tables[kind];
    if (mode == ZstdTableMode::kPredefined) {
      table = make_zstd_table(kKinds[kind]->predefined, kKinds[kind]->predefined_log);
    } else if (mode == ZstdTableMode::kRle) {
      const auto symbol = static_cast<std::uint8_t>(code.value_or(usable_code(kind, room)));
      table = make_zstd_rle_table(symbol);
      description = {std::byte{symbol}};
    } else if (mode == ZstdTableMode::kOwn) {
      DescribedTable own = random_own_table(kind, room);
      table = std::move(own.table);
      description = std::move(own.description);
    }
  }

  // A value of a code that the table has; one of at most `most`.
  template <class Codes>
  std::optional<std::uint32_t> random_value(KindNumber kind, const Codes& codes, std::size_t most) {
    const unsigned symbol = choices_.one_of(kept_.tables[kind]->cells).symbol;
    const ZstdCode code = codes(symbol);
    if (code.base > most) return std::nullopt;
    const std::size_t last = code.base + ((std::size_t{1} << code.bits) - 1);
    return static_cast<std::uint32_t>(choices_.between(code.base, std::min(last, most)));
  }

  std::optional<ZstdSequence> random_sequence(std::size_t room) {
    constexpr int kTries = 16;
    const auto codes_of = [](const auto& codes) {
      return [&codes](unsigned symbol) { return codes[symbol]; };
    };
    const auto offset_code = [](unsigned symbol) {
      return ZstdCode{1U << symbol, static_cast<std::uint8_t>(symbol)};
    };
    for (int i = 0; i < kTries; ++i) {
      // A large part of the room is for others, mostly.
      const std::size_t share = choices_.one_in(3) ? room : room / 4 + kZstdMatchCodes[0].base;
      const auto literals = random_value(kLiterals, codes_of(kZstdLiteralCodes), std::min(room, share));
      if (!literals) continue;
      const auto match = random_value(kMatches, codes_of(kZstdMatchCodes), std::min(room - *literals, share));
      if (!match) continue;
      const std::size_t at = frame_bytes() + *literals;
      const std::size_t most_offset = at <= window_bytes_ ? at + dictionary_bytes_ : window_bytes_;
      const auto offset = random_value(kOffsets, offset_code, most_offset + kZstdRepeatCount);
      if (!offset) continue;
      const ZstdSequence sequence{*literals, *match, *offset};
      const std::uint32_t stands_for = kept_.repeats.peek(sequence);
      if (stands_for != 0 && stands_for <= most_offset) return sequence;
    }
    return std::nullopt;
  }

  Choices choices_;
  std::size_t content_left_;
  std::size_t dictionary_bytes_ = 0;  // of its content
  std::uint32_t id_ = 0;
  Bytes content_;  // the dictionary's, then the frame's
  std::size_t window_bytes_ = 0, most_block_bytes_ = 0;
  bool has_checksum_ = false;
  Kept kept_;
  Bytes frame_;
  std::size_t last_block_ = 0;
};

}  // namespace

ValidData valid_zstd_frame(std::uint64_t seed, std::size_t most_content_bytes) {
  return Generator(seed, most_content_bytes).make();
}

}  // namespace hemstitch::testing
