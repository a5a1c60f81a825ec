// hemstitch -l FILE.lz4...: what the headers say, and what the blocks add up to. Nothing is restored.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>

#include "commands.hpp"
#include "each_file.hpp"
#include "files.hpp"
#include "json_text.hpp"
#include "messages.hpp"
#include "output.hpp"

namespace hemstitch::cli {
namespace {

constexpr const char* kRow = "{:>7} {:>9} {:>14} {:>14} {:>8}  {:<14} {}\n";

struct Totals {
  std::uint64_t frame_count = 0;
  std::uint64_t block_count = 0;
  std::uint64_t compressed_bytes = 0;
  std::uint64_t content_bytes = 0;

  Totals& operator+=(const Totals& other) {
    frame_count += other.frame_count;
    block_count += other.block_count;
    compressed_bytes += other.compressed_bytes;
    content_bytes += other.content_bytes;
    return *this;
  }
};

std::string ratio_text(std::uint64_t content_bytes, std::uint64_t compressed_bytes) {
  if (content_bytes == 0) return "-";
  return fmt::format("{:.3f}", static_cast<double>(content_bytes) / static_cast<double>(compressed_bytes));
}

std::string checks_of(const FrameSummary& frame) {
  if (frame.kind == FrameSummary::Kind::kSkippable) return "-";
  if (frame.block_checksums) return frame.content_checksum ? "block+content" : "block";
  return frame.content_checksum ? "content" : "none";
}

// The checks that all frames with content have, or "mixed".
std::string checks_of(const StreamSummary& summary) {
  std::string common;
  for (const FrameSummary& frame : summary.frames) {
    if (frame.kind == FrameSummary::Kind::kSkippable) continue;
    const std::string checks = checks_of(frame);
    if (!common.empty() && common != checks) return "mixed";
    common = checks;
  }
  return common.empty() ? "-" : common;
}

Totals totals_of(const StreamSummary& summary) {
  Totals totals;
  for (const FrameSummary& frame : summary.frames)
    totals += {1, frame.block_count, frame.compressed_bytes, frame.content_bytes};
  return totals;
}

std::string describe(const FrameSummary& frame) {
  switch (frame.kind) {
    case FrameSummary::Kind::kSkippable:
      return "skippable";
    case FrameSummary::Kind::kLz4Legacy:
      return fmt::format("legacy lz4, blocks of {}K", frame.block_bytes / 1024);
    case FrameSummary::Kind::kLz4:
      break;
  }
  std::string text = fmt::format("lz4, {} blocks of {}K", frame.linked_blocks ? "linked" : "independent",
                                 frame.block_bytes / 1024);
  if (frame.stored_block_count > 0) text += fmt::format(", {} stored", frame.stored_block_count);
  if (frame.content_size_in_header) text += ", content size";
  if (frame.dictionary_id) text += fmt::format(", dictionary 0x{:08x}", *frame.dictionary_id);
  return text;
}

// What restoring takes besides the file, behind its name: " (dictionary 0x12345678)".
std::string dictionaries_of(const StreamSummary& summary) {
  std::vector<std::uint32_t> ids;
  for (const FrameSummary& frame : summary.frames)
    if (frame.dictionary_id && std::find(ids.begin(), ids.end(), *frame.dictionary_id) == ids.end())
      ids.push_back(*frame.dictionary_id);
  if (ids.empty()) return "";
  return fmt::format(" ({} 0x{:08x})", ids.size() == 1 ? "dictionary" : "dictionaries",
                     fmt::join(ids, ", 0x"));
}

void print_frames(const StreamSummary& summary) {
  std::size_t number = 0;
  for (const FrameSummary& frame : summary.frames)
    fmt::print(kRow, fmt::format("#{}", ++number), frame.block_count, frame.compressed_bytes,
               frame.content_bytes, ratio_text(frame.content_bytes, frame.compressed_bytes), checks_of(frame),
               describe(frame));
}

const char* name_of(FrameSummary::Kind kind) {
  switch (kind) {
    case FrameSummary::Kind::kLz4:
      return "lz4";
    case FrameSummary::Kind::kLz4Legacy:
      return "lz4-legacy";
    case FrameSummary::Kind::kSkippable:
      break;
  }
  return "skippable";
}

template <typename Number>
std::string number_or_null(const std::optional<Number>& number) {
  return number ? std::to_string(*number) : "null";
}

std::string json_of(const FrameSummary& frame, std::uint64_t offset) {
  std::string text = fmt::format(R"({{"kind":"{}","offset":{},"compressed_bytes":{})", name_of(frame.kind),
                                 offset, frame.compressed_bytes);
  if (frame.kind != FrameSummary::Kind::kSkippable)
    text += fmt::format(
        R"(,"content_bytes":{},"block_count":{},"stored_block_count":{},"block_bytes":{},"linked_blocks":{},)"
        R"("block_checksums":{},"content_checksum":{},"content_size_in_header":{},"dictionary_id":{})",
        frame.content_bytes, frame.block_count, frame.stored_block_count, frame.block_bytes,
        json_bool(frame.linked_blocks), json_bool(frame.block_checksums), json_bool(frame.content_checksum),
        json_bool(frame.content_size_in_header), number_or_null(frame.dictionary_id));
  return text + '}';
}

// An object a line, so that a long list can be read as it comes. The manual describes it.
void print_json(const std::string& path, const StreamSummary& summary, const Totals& totals) {
  std::vector<std::string> frames;
  std::uint64_t offset = 0;
  for (const FrameSummary& frame : summary.frames) {
    frames.push_back(json_of(frame, offset));
    offset += frame.compressed_bytes;
  }
  fmt::print(
      R"({{"file":"{}","compressed_bytes":{},"content_bytes":{},"block_count":{},"trailing_garbage_at":{},"frames":[{}]}})"
      "\n",
      json_text(path), totals.compressed_bytes, totals.content_bytes, totals.block_count,
      number_or_null(summary.trailing_garbage_at), fmt::join(frames, ","));
}

void print_head() {
  fmt::print(kRow, "frames", "blocks", "compressed", "content", "ratio", "checks", "name");
}

void print_row(const Totals& totals, const std::string& checks, const std::string& name) {
  fmt::print(kRow, totals.frame_count, totals.block_count, totals.compressed_bytes, totals.content_bytes,
             ratio_text(totals.content_bytes, totals.compressed_bytes), checks, name);
}

}  // namespace

int run_list(const Request& request) {
  Totals all;
  std::size_t listed_count = 0;
  const int status = for_each_file(request, [&](const FileName& file) {
    const std::string path = file.path();
    FileSource source(file);
    refuse_folder(request, source);
    refuse_terminal(request, source);
    refuse_foreign(identify_data(source.first_bytes()));
    const StreamSummary summary = summarise_stream(source);
    const Totals totals = totals_of(summary);
    all += totals;
    if (request.json) {
      print_json(path, summary, totals);
    } else {
      if (listed_count == 0) print_head();
      print_row(totals, checks_of(summary), shown_name(path) + dictionaries_of(summary));
      if (request.verbose) print_frames(summary);
    }
    ++listed_count;
    std::fflush(stdout);  // so that errors stand after the rows before them
    return report_warning(request, path, garbage_warning(summary.trailing_garbage_at));
  });
  if (listed_count > 1 && !request.json) print_row(all, "", fmt::format("({} files)", listed_count));
  return status;
}

}  // namespace hemstitch::cli
