// hemstitch -l FILE.lz4...: shows what the headers say, and the sums of the blocks. It restores only frames
// whose headers say too little.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "cli/compress/compress.hpp"
#include "cli/files/each_file.hpp"
#include "cli/files/files.hpp"
#include "cli/files/output/output.hpp"
#include "cli/json_text.hpp"
#include "cli/messages.hpp"
#include "pipeline/stream.hpp"

namespace hemstitch::cli {
namespace {

constexpr const char* kRow = "{:>7} {:>9} {:>14} {:>14} {:>8}  {:<14} {}\n";

struct Totals {
  std::uint64_t frame_count = 0;
  std::optional<std::uint64_t> block_count =
      0;  // nothing if there are frames whose blocks have no known boundaries
  std::uint64_t compressed_bytes = 0;
  std::uint64_t content_bytes = 0;

  Totals& operator+=(const Totals& other) {
    frame_count += other.frame_count;
    block_count =
        block_count && other.block_count ? std::optional(*block_count + *other.block_count) : std::nullopt;
    compressed_bytes += other.compressed_bytes;
    content_bytes += other.content_bytes;
    return *this;
  }
};

std::string ratio_text(std::uint64_t content_bytes, std::uint64_t compressed_bytes) {
  if (content_bytes == 0) return "-";
  return fmt::format("{:.3f}", static_cast<double>(content_bytes) / static_cast<double>(compressed_bytes));
}

bool is_stream(const IndexedFrame& frame) { return frame.header.block_kind == BlockKind::kStream; }

std::optional<std::uint64_t> blocks_of(const IndexedFrame& frame) {
  return is_stream(frame) ? std::nullopt : std::optional(frame.block_count);
}

std::string blocks_text(const std::optional<std::uint64_t>& count) {
  return count ? std::to_string(*count) : "-";
}

std::string checks_of(const IndexedFrame& frame) {
  if (frame.skippable) return "-";
  if (frame.header.block_checksums || frame.header.block_content_checksums)
    return frame.header.content_checksum ? "block+content" : "block";
  return frame.header.content_checksum ? "content" : "none";
}

std::string local_time(std::uint32_t seconds) {
  const std::time_t time = seconds;
  std::tm parts{};
  std::array<char, 32> text{};
  if (localtime_r(&time, &parts) == nullptr) return {};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &parts)};
}

std::string describe(const IndexedFrame& frame) {
  if (frame.skippable) return std::string(frame.header.description);
  std::string text(frame.header.description);
  if (!is_stream(frame)) text += fmt::format(" of {}K", frame.header.block_bytes / 1024);
  if (!frame.header.legacy && frame.stored_block_count > 0)
    text += fmt::format(", {} stored", frame.stored_block_count);
  if (is_stream(frame) && frame.header.history_bytes != 0)
    text += fmt::format(", window of {}K", (frame.header.history_bytes + 1023) / 1024);
  if (frame.header.content_bytes) text += ", content size";
  if (frame.header.dictionary_id) text += fmt::format(", dictionary 0x{:08x}", *frame.header.dictionary_id);
  if (!frame.header.file_name.empty()) text += fmt::format(", '{}'", shown_name(frame.header.file_name));
  if (frame.header.file_seconds != 0) text += fmt::format(", {}", local_time(frame.header.file_seconds));
  return text;
}

std::string row_of(const IndexedFrame& frame, std::uint64_t number) {
  return fmt::format(kRow, fmt::format("#{}", number), blocks_text(blocks_of(frame)), frame.bytes,
                     frame.content_bytes, ratio_text(frame.content_bytes, frame.bytes), checks_of(frame),
                     describe(frame));
}

template <typename Number>
std::string number_or_null(const std::optional<Number>& number) {
  return number ? std::to_string(*number) : "null";
}

std::string json_of(const IndexedFrame& frame) {
  std::string text = fmt::format(R"({{"kind":"{}","offset":{},"compressed_bytes":{})", frame.header.kind,
                                 frame.at, frame.bytes);
  const std::optional<std::uint64_t> blocks = blocks_of(frame);
  const auto of_blocks = [&](std::uint64_t number) {
    return number_or_null(blocks ? std::optional(number) : std::nullopt);
  };
  if (!frame.skippable)
    text += fmt::format(
        R"(,"content_bytes":{},"block_count":{},"stored_block_count":{},"block_bytes":{},"linked_blocks":{},)"
        R"("block_checksums":{},"content_checksum":{},"content_size_in_header":{},"dictionary_id":{})",
        frame.content_bytes, number_or_null(blocks), of_blocks(frame.stored_block_count),
        of_blocks(frame.header.block_bytes), json_bool(frame.header.block_kind == BlockKind::kLinked),
        json_bool(frame.header.block_checksums || frame.header.block_content_checksums),
        json_bool(frame.header.content_checksum), json_bool(frame.header.content_bytes.has_value()),
        number_or_null(frame.header.dictionary_id));
  return text + '}';
}

void print_head() {
  fmt::print(kRow, "frames", "blocks", "compressed", "content", "ratio", "checks", "name");
}

void print_row(const Totals& totals, const std::string& checks, const std::string& name) {
  fmt::print(kRow, totals.frame_count, blocks_text(totals.block_count), totals.compressed_bytes,
             totals.content_bytes, ratio_text(totals.content_bytes, totals.compressed_bytes), checks, name);
}

// Text that follows what is not known yet: a short one in memory, a longer one in a temporary file.
class LaterText {
 public:
  void add(std::string_view text) {
    if (text_.size() + text.size() > kMostBytes) put_away();
    text_ += text;
  }
  void print() {
    if (file_) {
      put_away();
      std::rewind(file_.get());
      std::array<char, 64 << 10> piece;
      while (const std::size_t bytes = std::fread(piece.data(), 1, piece.size(), file_.get()))
        std::fwrite(piece.data(), 1, bytes, stdout);
      if (std::ferror(file_.get()) != 0) throw tool_error_from_errno("the temporary file cannot be read");
    }
    std::fwrite(text_.data(), 1, text_.size(), stdout);
  }

 private:
  static constexpr std::size_t kMostBytes = std::size_t{1} << 20;
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  void put_away() {
    if (!file_) file_.reset(std::tmpfile());
    if (!file_ || std::fwrite(text_.data(), 1, text_.size(), file_.get()) != text_.size() ||
        std::fflush(file_.get()) != 0)
      throw tool_error_from_errno("a long list needs a temporary file, which cannot be written");
    text_.clear();
  }

  std::string text_;
  std::unique_ptr<std::FILE, Close> file_;
};

// What is known of a file's frames, one after the other.
class FileList {
 public:
  explicit FileList(const Request& request) : request_(request) {}

  void add(const IndexedFrame& frame) {
    totals_ += {1, blocks_of(frame), frame.bytes, frame.content_bytes};
    if (request_.json) {
      later_.add((totals_.frame_count == 1 ? "" : ",") + json_of(frame));
      return;
    }
    if (!frame.skippable) {
      const std::string checks = checks_of(frame);
      checks_ = checks_.empty() || checks_ == checks ? checks : "mixed";
    }
    const auto& id = frame.header.dictionary_id;
    if (id && std::ranges::find(dictionaries_, *id) == dictionaries_.end()) {
      if (dictionaries_.size() < kMostDictionaries)
        dictionaries_.push_back(*id);
      else
        more_dictionaries_ = true;
    }
    if (request_.verbosity > 0) later_.add(row_of(frame, totals_.frame_count));
  }

  const Totals& totals() const { return totals_; }

  // An object on each line, so that a long list can be read as it comes. The manual describes it.
  void print_json(const std::string& path, const FrameIndex& index) {
    fmt::print(
        R"({{"file":"{}","compressed_bytes":{},"content_bytes":{},"block_count":{},"trailing_garbage_at":{},"frames":[)",
        json_text(path), totals_.compressed_bytes, totals_.content_bytes, number_or_null(totals_.block_count),
        number_or_null(index.trailing_garbage_at));
    later_.print();
    fmt::print("]}}\n");
  }
  void print_rows(const std::string& path) {
    print_row(totals_, checks_.empty() ? "-" : checks_,
              (path == kStandardStream ? "stdin" : escaped(path)) + dictionaries());
    later_.print();
  }

 private:
  static constexpr std::size_t kMostDictionaries = 8;

  // The dictionaries that restoring needs, to be shown after the file's name: " (dictionary 0x12345678)".
  std::string dictionaries() const {
    if (dictionaries_.empty()) return "";
    return fmt::format(" ({} 0x{:08x}{})", dictionaries_.size() == 1 ? "dictionary" : "dictionaries",
                       fmt::join(dictionaries_, ", 0x"), more_dictionaries_ ? " and others" : "");
  }

  const Request& request_;
  Totals totals_;
  std::string checks_;  // those that all frames with content have in common, or "mixed"
  std::vector<std::uint32_t> dictionaries_;
  bool more_dictionaries_ = false;
  LaterText later_;  // about each frame; the totals precede it
};

}  // namespace

int run_list(const Request& request) {
  Totals all;
  std::size_t listed_count = 0;
  const int status = for_each_file(request, [&](const FileName& file) {
    const std::string path = file.path();
    FileSource source(file);
    refuse_folder(request, source);
    refuse_terminal(request, source);
    std::optional<FileList> list(request);
    const FrameIndex index = index_stream(
        source, options_to_restore(request.restore, source).format,
        [&](const IndexedFrame* frame) {
          if (frame == nullptr)
            list.emplace(request);
          else
            list->add(*frame);
        },
        means_of_listing(request.restore));
    all += list->totals();
    if (request.json) {
      list->print_json(path, index);
    } else {
      if (listed_count == 0) print_head();
      list->print_rows(path);
    }
    ++listed_count;
    std::fflush(stdout);  // so that errors come after the rows before them
    return worst(report_warning(request, path, end_warning(index.end_missing)),
                 report_warning(request, path, garbage_warning(index.trailing_garbage_at)));
  });
  if (listed_count > 1 && !request.json) print_row(all, "", fmt::format("({} files)", listed_count));
  return status;
}

}  // namespace hemstitch::cli
