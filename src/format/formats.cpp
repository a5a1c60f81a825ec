#include "format/formats.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/messages.hpp"
#include "core/options.hpp"
#include "format/identify.hpp"
#include "format/skippable_frame.hpp"

namespace hemstitch {
namespace {

std::string size_text(std::size_t bytes) {
  if (bytes % (1 << 20) == 0) return fmt::format("{}M", bytes >> 20);
  return bytes % (1 << 10) == 0 ? fmt::format("{}K", bytes >> 10) : fmt::format("{}", bytes);
}

}  // namespace

bool FrameFormat::begins(std::span<const std::byte> data) const {
  const auto words = first_bytes();
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return starts_with(data, word); });
}

FormatTable& FormatTable::instance() {
  static auto* const table = new FormatTable;
  return *table;
}

void FormatTable::add(FormatRow row) { rows_.push_back(std::move(row)); }

const FormatRow* FormatTable::row(Format id) const {
  for (const FormatRow& row : rows_)
    if (row.format->id() == id) return &row;
  return nullptr;
}

const FrameFormat& FormatTable::of(Format id) const {
  if (const FormatRow* const found = row(id)) return *found->format;
  throw Error(Status::kInvalidOption,
              fmt::format("format is {}; there is no such format", static_cast<int>(id)));
}

const Codec* FormatTable::codec(Format id, RowCodec codec) const {
  const FormatRow* const found = row(id);
  return found != nullptr ? (found->*codec).get() : nullptr;
}

const FrameFormat* FormatTable::of_name(std::string_view name) const {
  for (const FormatRow& row : rows_)
    if (row.format->name() == name) return row.format.get();
  return nullptr;
}

const FrameFormat* FormatTable::of_data(std::span<const std::byte> first_bytes) const {
  for (const FormatRow& row : rows_)
    if (row.format->begins(first_bytes)) return row.format.get();
  return nullptr;
}

bool FormatTable::has_cut_begin(std::span<const std::byte> bytes) const {
  const auto is_cut = [&](std::string_view word) { return is_cut_begin(bytes, word); };
  for (const FormatRow& row : rows_) {
    const auto words = row.format->first_bytes();
    if (std::any_of(words.begin(), words.end(), is_cut)) return true;
  }
  return is_cut_skippable_magic(bytes);
}

LevelRange FormatTable::levels() const {
  LevelRange all;
  for (const FormatRow& row : rows_) {
    all.least = std::min(all.least, row.format->levels().least);
    all.most = std::max(all.most, row.format->levels().most);
  }
  return all;
}

std::size_t FormatTable::most_history_bytes() const {
  std::size_t most = 0;
  for (const FormatRow& row : rows_) most = std::max(most, row.format->history_bytes());
  return most;
}

std::string FormatTable::names() const {
  std::vector<std::string> words;
  for (const FormatRow& row : rows_) words.emplace_back(row.format->name());
  return listed(words, "or");
}

std::string FormatTable::titles_told_by_content() const {
  std::vector<std::string> words;
  for (const FormatRow& row : rows_)
    if (row.format->is_told_by_content()) words.emplace_back(row.format->title());
  return listed(words, "or");
}

std::string FormatTable::suffixes() const {
  std::vector<std::string> words;
  for (const FormatRow& row : rows_) {
    const std::string_view suffix = row.format->suffix();
    if (!suffix.empty() && std::find(words.begin(), words.end(), suffix) == words.end())
      words.emplace_back(suffix);
  }
  return listed(words, "or");
}

CompressOptions with_defaults(CompressOptions options) {
  const FrameFormat& format = FormatTable::instance().of(options.format);
  if (options.level == 0) options.level = format.default_level();
  if (options.block_bytes == 0)
    options.block_bytes = options.seekable_bytes != 0 ? options.seekable_bytes
                          : options.legacy            ? format.legacy_block_bytes()
                                                      : format.default_block_bytes();
  return options;
}

void check_level(const CompressOptions& options) {
  const LevelRange levels = FormatTable::instance().of(options.format).levels();
  if (options.level < levels.least || options.level > levels.most)
    throw Error(Status::kInvalidOption, out_of_range("level", options.level, levels.least, levels.most));
}

CompressOptions checked_options(const CompressOptions& given) {
  CompressOptions options = with_defaults(given);
  const FrameFormat& format = FormatTable::instance().of(options.format);
  format.check(options);
  check_level(options);
  validate(options);
  const auto sizes = format.block_sizes();
  if (options.seekable_bytes == 0 && !options.legacy &&
      std::find(sizes.begin(), sizes.end(), options.block_bytes) == sizes.end()) {
    std::vector<std::string> texts;
    for (const std::size_t size : sizes) texts.push_back(size_text(size));
    throw Error(Status::kInvalidOption,
                fmt::format("block_bytes is {}, it can be {}", options.block_bytes, listed(texts, "or")));
  }
  return options;
}

std::string_view backend_for(const CompressOptions& options) {
  const std::string_view name = options.stored      ? "stored"
                                : options.rsyncable ? "rsyncable"
                                : options.legacy    ? "legacy"
                                                    : "";
  if (name.empty()) return options.backend;
  const auto require = [](bool valid, const std::string& what) {
    if (!valid) throw Error(Status::kInvalidOption, what);
  };
  const FrameFormat& format = FormatTable::instance().of(options.format);
  const FormatChoices choices = format.choices();
  require((!options.rsyncable || choices.rsyncable) && (!options.legacy || choices.legacy_frames),
          fmt::format("{}: {} has no such option", name, format.title()));
  require(!options.stored || (!options.rsyncable && !options.legacy && options.window_log == 0),
          "stored contradicts rsyncable, legacy and window_log");
  constexpr std::string_view kProcessor = "cpu";
  require(options.backend == "auto" || options.backend == kProcessor,
          fmt::format("{}: only the backend '{}' has this option, backend is '{}'", name, kProcessor,
                      options.backend));
  return kProcessor;
}

}  // namespace hemstitch
