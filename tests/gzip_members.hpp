// Members of gzip and BGZF and streams of zlib, made field by field, with what the library zlib compresses in them; and those that restoring of
// whole streams is tried with.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "deflate_streams.hpp"
#include "format/checksum.hpp"
#include "shapes.hpp"

namespace hemstitch::testing {

// Little-endian.
inline Bytes le(std::uint64_t value, int count) {
  Bytes bytes;
  for (int i = 0; i < count; ++i) bytes.push_back(static_cast<std::byte>(value >> (8 * i)));
  return bytes;
}

// What is in a member's header.
struct GzipFields {
  std::optional<Bytes> extra = {};
  std::optional<std::string> name = {}, comment = {};
  bool header_checksum = false;
  unsigned flags = 0;  // besides those
  unsigned method = 8;
  std::uint32_t time = 0;
};

inline Bytes gzip_member(const Bytes& content, const GzipFields& fields = {}) {
  const unsigned flags = fields.flags | (fields.header_checksum ? 2 : 0) | (fields.extra ? 4 : 0) |
                         (fields.name ? 8 : 0) | (fields.comment ? 16 : 0);
  Bytes member = le(0x8B1F, 2) + le(fields.method, 1) + le(flags, 1) + le(fields.time, 4) + le(0xFF00, 2);
  if (fields.extra) member = member + le(fields.extra->size(), 2) + *fields.extra;
  for (const auto& text : {fields.name, fields.comment})
    if (text) member = member + bytes_of(*text) + le(0, 1);
  if (fields.header_checksum) member = member + le(checksum_of(Checksum::kCrc32, member) & 0xFFFF, 2);
  return member + zlib_stream(content) + le(checksum_of(Checksum::kCrc32, content), 4) +
         le(content.size(), 4);
}

inline Bytes bgzf_member(const Bytes& content, const Bytes& other_subfields = {}) {
  const Bytes data = zlib_stream(content);
  const std::size_t bytes = 18 + other_subfields.size() + data.size() + 8;
  GzipFields fields;
  fields.extra = other_subfields + bytes_of("BC") + le(2, 2) + le(bytes - 1, 2);
  return gzip_member(content, fields);
}
// What ends a file.
inline Bytes bgzf_marker() { return bgzf_member({}); }

inline Bytes bgzf_file(const Bytes& content, std::size_t block_bytes = 65'280) {
  Bytes file;
  for (std::size_t at = 0; at < content.size(); at += block_bytes)
    file = file + bgzf_member(Bytes(content.begin() + static_cast<std::ptrdiff_t>(at),
                                    content.begin() + static_cast<std::ptrdiff_t>(
                                                          std::min(content.size(), at + block_bytes))));
  return file + bgzf_marker();
}

inline Bytes changed_at(Bytes bytes, std::size_t at, std::byte by = std::byte{1}) {
  bytes[at] ^= by;
  return bytes;
}

// A stream and what it is restored with.
struct StreamCase {
  Bytes stream;
  Bytes history = {};
  std::size_t capacity = 0;
};

// The member, of which the first `head_bytes` are its head, with content that refers to a history. No head of gzip names one.
inline StreamCase member_that_needs_history(const Bytes& member, std::size_t head_bytes,
                                            const Bytes& content) {
  const Bytes history = wordy_bytes(5000);
  const auto head = member.begin() + static_cast<std::ptrdiff_t>(head_bytes);
  return {Bytes(member.begin(), head) + zlib_stream(content, 6, Z_DEFAULT_STRATEGY, 8, -MAX_WBITS, history) +
              Bytes(member.end() - 8, member.end()),
          history, content.size()};
}

// Sound members of gzip with any fields, cut off at every byte, and with every byte of header and trailer changed.
inline std::vector<StreamCase> gzip_cases() {
  const Bytes content = wordy_bytes(300);
  std::vector<StreamCase> cases;
  const auto add = [&](Bytes stream) { cases.push_back({std::move(stream), {}, content.size()}); };
  for (unsigned fields = 0; fields < 16; ++fields) {
    GzipFields given{.header_checksum = (fields & 1) != 0};
    if ((fields & 2) != 0) given.extra = bytes_of("xx") + le(3, 2) + bytes_of("abc");
    if ((fields & 4) != 0) given.name = std::string(70, 'n');
    if ((fields & 8) != 0) given.comment = "of 33 letters and more, in a row";
    const Bytes member = gzip_member(content, given);
    const std::size_t head = member.size() - 8 - zlib_stream(content).size();
    for (std::size_t at = 0; at < member.size(); ++at) {
      add(Bytes(member.begin(), member.begin() + static_cast<std::ptrdiff_t>(at)));
      if (at < head || at + 8 >= member.size())
        for (const unsigned by : {1u, 0x20u, 0xFFu}) add(changed_at(member, at, std::byte(by)));
    }
    add(member);
    add(member + le(0, 1));
  }
  add(gzip_member(content, {.name = std::string(5000, 'n'), .comment = ""}));
  add(gzip_member(content, {.extra = Bytes()}));
  add(gzip_member({}));
  cases.push_back({gzip_member(content), {}, content.size() - 1});
  cases.push_back({gzip_member(content), wordy_bytes(5000), content.size()});
  cases.push_back(member_that_needs_history(gzip_member(content), 10, content));
  return cases;
}

// The same of BGZF, and members that hold more than they may.
inline std::vector<StreamCase> bgzf_cases() {
  const Bytes content = wordy_bytes(300);
  std::vector<StreamCase> cases;
  for (const Bytes& member :
       {bgzf_member(content), bgzf_marker(), bgzf_member(content, bytes_of("ab") + le(1, 2) + bytes_of("c"))})
    for (std::size_t at = 0; at <= member.size(); ++at) {
      cases.push_back({Bytes(member.begin(), member.begin() + static_cast<std::ptrdiff_t>(at)), {}, 300});
      if (at == member.size()) continue;
      cases.push_back({changed_at(member, at), {}, 300});
      cases.push_back({changed_at(member, at, std::byte{0x80}), {}, 300});
    }
  cases.push_back({bgzf_member(content) + le(0, 1), {}, 300});
  cases.push_back({bgzf_member(content), {}, 299});
  cases.push_back({gzip_member(content), {}, 300});
  cases.push_back({bgzf_member(content), wordy_bytes(5000), 300});
  StreamCase needy = member_that_needs_history(bgzf_member(content), 18, content);
  needy.stream[16] = static_cast<std::byte>(needy.stream.size() - 1);  // the member's size, less one
  needy.stream[17] = static_cast<std::byte>((needy.stream.size() - 1) >> 8);
  cases.push_back(std::move(needy));
  const Bytes most = bgzf_member(equal_bytes(65'536)), more = bgzf_member(equal_bytes(65'537));
  for (const std::size_t capacity : {65'535, 65'536, 65'537, 100'000}) {
    cases.push_back({most, {}, capacity});
    cases.push_back({more, {}, capacity});
    // Its trailer keeps silent about the last byte.
    cases.push_back({changed_at(changed_at(changed_at(more, more.size() - 4), more.size() - 2),
                                more.size() - 4, std::byte{0}),
                     {},
                     capacity});
  }
  return cases;
}

// Streams of zlib with every header there is, with and without a dictionary, cut off at every byte and changed.
inline std::vector<StreamCase> zlib_cases() {
  const Bytes content = wordy_bytes(300), dictionary = wordy_bytes(5000);
  std::vector<StreamCase> cases;
  const Bytes plain = zlib_stream(content, 6, Z_DEFAULT_STRATEGY, 8, MAX_WBITS);
  const Bytes named = zlib_stream(content, 6, Z_DEFAULT_STRATEGY, 8, MAX_WBITS, dictionary);
  for (unsigned header = 0; header < 1u << 16; header += header < 1u << 15 ? 1 : 97) {
    Bytes stream = plain;
    stream[0] = static_cast<std::byte>(header >> 8);
    stream[1] = static_cast<std::byte>(header);
    if ((header & 15 << 8) == 8 << 8 || header % 61 == 0) cases.push_back({std::move(stream), {}, 300});
  }
  for (const auto& [stream, history] :
       {std::pair(plain, Bytes()), std::pair(plain, dictionary), std::pair(named, dictionary)}) {
    for (std::size_t at = 0; at <= stream.size(); ++at)
      cases.push_back(
          {Bytes(stream.begin(), stream.begin() + static_cast<std::ptrdiff_t>(at)), history, 300});
    for (std::size_t at = 1; at <= 4; ++at)
      cases.push_back({changed_at(stream, stream.size() - at), history, 300});
    for (std::size_t at = 0; at < 6; ++at) cases.push_back({changed_at(stream, at), history, 300});
  }
  // What it refers to is there, and its header does not name it.
  cases.push_back(
      {Bytes(plain.begin(), plain.begin() + 2) + Bytes(named.begin() + 6, named.end()), dictionary, 300});
  cases.push_back({named, {}, 300});
  cases.push_back({named, wordy_bytes(4999), 300});
  cases.push_back({plain + le(0, 1), {}, 300});
  cases.push_back({plain, {}, 299});
  return cases;
}

}  // namespace hemstitch::testing
