// The definitions of hash_chain and hash_pairs, transcribed position by position with no table, no chain and
// no state: slow, and shaped like the sentences of the contract. What the finders give must equal what these
// give.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "core/bytes.hpp"
#include "match/common/finder.hpp"
#include "match/common/hash_word.hpp"
#include "match/hash_chain/hash_chain.hpp"
#include "match/hash_pairs/hash_pairs.hpp"

namespace hemstitch::testing {

inline std::size_t agreeing_bytes(std::span<const std::byte> data, std::size_t p, std::size_t q,
                                  std::size_t most) {
  std::size_t length = 0;
  while (length < most && p + length < data.size() && data[p + length] == data[q + length]) ++length;
  return length;
}

inline bool has_hash(std::span<const std::byte> data, std::size_t p) { return data.size() - p >= 4; }

inline std::uint32_t hash_at(std::span<const std::byte> data, std::size_t p, unsigned hash_bits) {
  return hash_word(load_le32(&data[p]), hash_bits);
}

// How many bytes hash_chain hashes in a block, by the rule of hash_width.hpp.
inline std::size_t chain_hash_width(std::span<const std::byte> block, const HashChainParameters& parameters) {
  if (parameters.few_values_hash_bytes == 0 || block.size() < 8192) return parameters.hash_bytes;
  std::vector<std::uint64_t> slots(2048);
  const std::size_t step = block.size() / 16;
  for (std::size_t stretch = 0; stretch < 16; ++stretch)
    for (std::size_t i = 0; i < 256; ++i) ++slots[hash_at(block, stretch * step + step / 2 - 128 + i, 11)];
  std::uint64_t used = 0, pairs = 0;
  for (const std::uint64_t words : slots)
    used += words > 0 ? 1 : 0, pairs += words * (words - (words > 0)) / 2;
  const bool few_values = used >= 16 && used <= 480 && 4 * used * pairs <= 5ull * 4096 * 4096;
  return few_values ? parameters.few_values_hash_bytes - (block.size() <= 65536 ? 1 : 0)
                    : parameters.hash_bytes;
}

inline std::uint32_t chain_hash_at(std::span<const std::byte> data, std::size_t p, std::size_t width,
                                   unsigned hash_bits) {
  if (width == 4) return hash_at(data, p, hash_bits);
  return hash_word(wide_word(load_le32(&data[p]), load_le32(&data[p + width - 4])), hash_bits);
}

// Steps 1 and 2 of hash_chain for one position.
inline Match chain_choice(std::span<const std::byte> data, std::size_t p, std::size_t width,
                          const HashChainParameters& parameters) {
  Match best;
  if (data.size() - p < width) return best;
  const std::uint32_t hash = chain_hash_at(data, p, width, parameters.hash_bits);
  std::uint32_t seen = 0;
  for (std::size_t offset = 1; offset <= std::min<std::size_t>(p, parameters.window_bytes); ++offset) {
    if (chain_hash_at(data, p - offset, width, parameters.hash_bits) != hash) continue;
    if (++seen > parameters.depth) break;
    const std::size_t length = agreeing_bytes(data, p, p - offset, parameters.cap_bytes);
    if (length < 4) continue;
    if (length > best.length) best = {static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(length)};
    if (length == parameters.cap_bytes) break;
  }
  return best;
}

// The stitch over `reach` positions (0: none).
inline std::vector<Match> stitched_matches(const FinderInput& input, std::vector<Match> matches,
                                           std::size_t reach) {
  const std::size_t history = input.history_bytes, count = matches.size();
  if (reach == 0) return matches;
  const std::vector<Match> found = matches;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t k = 1; k <= reach && i + k < count; ++k) {
      const Match ahead = found[i + k];
      const std::size_t p = history + i;
      if (ahead.length == 0 || ahead.offset > p || agreeing_bytes(input.data, p, p - ahead.offset, k) < k)
        continue;
      const auto length = static_cast<std::uint32_t>(std::min<std::size_t>(k + ahead.length, 65535));
      if (length > matches[i].length || (length == matches[i].length && ahead.offset < matches[i].offset))
        matches[i] = {ahead.offset, length};
    }
  }
  for (std::size_t i = 1; i < count; ++i)
    if (matches[i - 1].length > 1 && matches[i - 1].length - 1 > matches[i].length)
      matches[i] = {matches[i - 1].offset, matches[i - 1].length - 1};
  return matches;
}

// True lengths and the stitch, from the choices of all positions.
inline MatchRecords finished_records(const FinderInput& input, std::vector<Match> matches,
                                     std::uint32_t cap_bytes, std::size_t reach) {
  for (std::size_t i = 0; i < matches.size(); ++i)
    if (matches[i].length == cap_bytes)
      matches[i].length = static_cast<std::uint32_t>(agreeing_bytes(
          input.data, input.history_bytes + i, input.history_bytes + i - matches[i].offset, 65535));
  MatchRecords records;
  for (const Match& match : stitched_matches(input, std::move(matches), reach))
    records.push_back(pack_match(match.offset, match.length));
  return records;
}

inline MatchRecords hash_chain_by_definition(const FinderInput& input,
                                             const HashChainParameters& parameters) {
  const std::size_t width = chain_hash_width(input.data.subspan(input.history_bytes), parameters);
  std::vector<Match> matches;
  for (std::size_t p = input.history_bytes; p < input.data.size(); ++p)
    matches.push_back(chain_choice(input.data, p, width, parameters));
  return finished_records(input, std::move(matches), parameters.cap_bytes,
                          parameters.stitch ? parameters.stitch_reach : 0);
}

// hash_pairs: the offset of a position's candidate, if its first four bytes agree.
inline std::size_t pair_offset(std::span<const std::byte> data, std::size_t p, unsigned hash_bits) {
  if (p >= data.size() || !has_hash(data, p)) return 0;
  const std::size_t seen_end = p % 2 == 0 ? p : p - p % 64;
  for (std::size_t q = seen_end; q-- > 0;)
    if (q % 2 == 0 && hash_at(data, q, hash_bits) == hash_at(data, p, hash_bits))
      return agreeing_bytes(data, p, q, 4) == 4 ? p - q : 0;
  return 0;
}

inline MatchRecords hash_pairs_by_definition(const FinderInput& input, unsigned hash_bits) {
  const auto data = input.data;
  MatchRecords records(data.size(), 0);
  std::size_t covered_end = 0;
  for (std::size_t pair = 0; pair < data.size(); pair += 2) {
    std::size_t p = pair, offset = pair_offset(data, p, hash_bits);
    if (offset == 0) offset = pair_offset(data, ++p, hash_bits);
    if (offset == 0) continue;
    const std::size_t end = p + agreeing_bytes(data, p, p - offset, data.size());
    if (end - p >= 16) {
      if (p + 16 <= covered_end) continue;
      covered_end = end;
    }
    std::size_t begin = p;
    for (std::size_t k = 1; k <= 4 && k <= p - offset && data[p - k] == data[p - k - offset]; ++k) --begin;
    for (std::size_t at = begin; at < end; ++at) {
      const std::size_t length = end - at;
      if (length > record_length(records[at]) ||
          (length == record_length(records[at]) && offset < record_offset(records[at])))
        records[at] = pack_match(static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(length));
    }
  }
  return records;
}

// Where the first record stands that is not a true match; nothing said when all are. Bytes that were already
// seen to agree at an offset are not compared again, so that a long run takes linear time.
inline std::string first_false_match(const FinderInput& input, const MatchRecords& records) {
  std::vector<std::size_t> agreed_until(65536, 0);
  for (std::size_t i = 0; i < records.size(); ++i) {
    const std::size_t p = input.history_bytes + i, end = p + record_length(records[i]),
                      offset = record_offset(records[i]);
    if ((offset == 0) != (end == p)) return "half a record at " + std::to_string(i);
    if (offset == 0) continue;
    if (offset > p) return "an offset before the data at " + std::to_string(i);
    if (end > input.data.size()) return "a length beyond the data at " + std::to_string(i);
    const std::size_t known = std::max(p, agreed_until[offset]);
    if (known >= end) continue;
    if (agreeing_bytes(input.data, known, known - offset, end - known) != end - known)
      return "bytes that differ at " + std::to_string(i);
    agreed_until[offset] = end;
  }
  return "";
}

// Histories to set before blocks: none, shorter than a hash, and longer ones.
inline constexpr std::size_t kHistorySizes[] = {0, 1, 3, 33, 1000};

}  // namespace hemstitch::testing
