// The public search: collects the lines of texts.
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>

#include "core/between_pieces.hpp"
#include "core/call_in_pieces.hpp"
#include "core/descriptor.hpp"
#include "core/messages.hpp"
#include "core/options.hpp"
#include "core/parallel.hpp"
#include "core/status.hpp"
#include "engine/registry.hpp"
#include "format/identify.hpp"
#include "hemstitch/search.hpp"
#include "search/device_search.hpp"
#include "search/piece_search.hpp"
#include "search/search_plan.hpp"
#include "search/search_source.hpp"

namespace hemstitch {
namespace {

// How many texts a thread takes at once, and how much memory a file is first read to.
constexpr std::size_t kGrain = 16;
constexpr std::size_t kFirstMemoryBytes = 256 << 10;
// Longer texts are searched in pieces.
constexpr std::size_t kTextPieceBytes = std::size_t{1} << 20;

bool is_compressed(std::span<const std::byte> first_bytes) {
  return identify_data(first_bytes.first(std::min(first_bytes.size(), kIdentifyBytes))).kind ==
         DataKind::kFrame;
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Collects what is found in one text.
class LineCollector : public LineListener {
 public:
  // Keeps references to its arguments.
  LineCollector(const SearchOptions& options, const SearchPlan& plan, bool has_hole, SearchedText& into)
      : options_(options), searcher_(plan.selection, plan.pattern_set(), has_hole, *this), into_(into) {}

  LineSearcher& searcher() { return searcher_; }
  PieceSearch pieces() {
    memory_.resize(kFirstMemoryBytes);
    return {searcher_, memory_, [this] { return more_memory(); }};
  }
  void finish() {
    into_.count = searcher_.count();
    into_.in_binary = searcher_.in_binary();
  }

 private:
  void line(const FoundLine& line) override {
    SearchedLine& found = into_.lines.emplace_back(
        SearchedLine{line.number, line.byte, std::string(line.text), line.selected, {}});
    if (!options_.matches || line.selected == options_.invert) return;
    for (auto match = searcher_.match_in(line, 0); match;
         match = searcher_.match_in(line, match->position + match->bytes))
      found.matches.push_back(*match);
  }
  // Never called: the memory grows with the line.
  void too_long(std::uint64_t) override {}
  void too_many_before(std::uint64_t) override {}

  std::span<std::byte> more_memory() {
    smaller_ = std::exchange(memory_, std::vector<std::byte>(2 * memory_.size()));  // still needed
    return memory_;
  }

  const SearchOptions& options_;
  LineSearcher searcher_;
  SearchedText& into_;
  std::vector<std::byte> memory_, smaller_;
};

}  // namespace

struct TextSearcher::Impl {
  SearchOptions options;
  SearchPlan plan;
  std::unique_ptr<DeviceSearch> device;  // null if the processor searches
  std::mutex device_turn;

  explicit Impl(const SearchOptions& given, const WebgpuDevice* webgpu = nullptr)
      : options(given), plan(given) {
    plan.selection.numbers = true;
    if (webgpu != nullptr) {
      if (plan.lines_follow_from_matches()) device = make_device_search(*webgpu, *plan.patterns);
    } else if (plan.lines_follow_from_matches()) {
      device = make_device_search(options.backend, options.device, *plan.patterns);
    } else if (options.backend != "auto") {
      BackendRegistry::instance().find_usable(options.backend, options.device);
    }
  }

  DeviceSearch& on_device() const {
    if (device) return *device;
    throw Error(
        Status::kInvalidOption,
        "texts in the memory of a device are searched there, and for patterns of which none is empty");
  }
};

namespace {

RestoreOptions restore_options() {
  RestoreOptions options;
  options.backend = "cpu";
  options.threads = 1;  // texts are restored in parallel already
  options.between_pieces = look_between_pieces;
  return options;
}

void search_compressed(Source& source, LineCollector& lines) {
  PieceSearch pieces = lines.pieces();
  std::optional<std::uint64_t> garbage_at;
  try {
    garbage_at = search_restored(source, pieces, restore_options(), [] {});
  } catch (...) {
    pieces.finish();
    throw;
  }
  pieces.finish();
  if (garbage_at) throw trailing_garbage(garbage_at);
}

void search_in_pieces(std::string_view text, LineSearcher& searcher) {
  std::size_t begin = 0, end = 0;
  while (!searcher.done()) {
    look_between_pieces();
    end = std::min(end + kTextPieceBytes, text.size());
    const bool is_last = end == text.size();
    begin += searcher.take(text.substr(begin, end - begin),
                           is_last ? LineSearcher::Piece::kLast : LineSearcher::Piece::kMore);
  }
}

// If the text cannot be restored, the result has the error. `matches`: the matches in the text, if they are
// known.
SearchedText search_text(const SearchOptions& options, const SearchPlan& plan, std::string_view text,
                         std::optional<MatchCursor> matches) {
  look_between_pieces();
  SearchedText found;
  LineCollector lines(options, plan, false, found);
  const std::span<const std::byte> bytes = std::as_bytes(std::span(text));
  if (!matches && options.decompress && is_compressed(bytes)) {
    try {
      MemorySource source(bytes);
      search_compressed(source, lines);
    } catch (const Error& error) {
      if (error.status() == Status::kCancelled) throw;  // the whole call is
      found.error = error.what();
    }
  } else if (matches) {
    lines.searcher().take_whole(text, *matches);
  } else if (text.size() <= kTextPieceBytes) {
    lines.searcher().take_whole(text, MatchCursor(text, plan.pattern_set()));
  } else {
    search_in_pieces(text, lines.searcher());
  }
  lines.finish();
  return found;
}

SearchedText search_file(const SearchOptions& options, const SearchPlan& plan, const std::string& path) {
  SearchedText found;
  std::optional<LineCollector> lines;
  try {
    const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
    struct stat status {};
    if (file.number() < 0 || fstat(file.number(), &status) != 0)
      throw std::system_error(errno, std::generic_category());
    const bool hole = S_ISREG(status.st_mode) && options.binary != SearchOptions::Binary::kText &&
                      has_hole(file, kFirstReadBytes, static_cast<std::uint64_t>(status.st_size));
    lines.emplace(options, plan, hole, found);
    SearchSource source(file);
    if (options.decompress && is_compressed(source.first_bytes())) {
      search_compressed(source, *lines);
    } else {
      PieceSearch pieces = lines->pieces();
      try {
        while (!pieces.done()) {
          look_between_pieces();
          const std::size_t bytes = source.read_some(pieces.room());
          if (bytes == 0) break;
          pieces.received(bytes, false);
        }
      } catch (const std::system_error&) {
        pieces.finish();
        throw;
      }
      pieces.finish();
    }
  } catch (const Error& error) {
    if (error.status() == Status::kCancelled) throw;
    found.error = error.what();
  } catch (const std::system_error& error) {
    found.error = error.what();
  }
  if (lines) lines->finish();
  return found;
}

void check_offsets(std::uint64_t bytes, std::span<const std::uint64_t> offsets) {
  const bool whole = offsets.empty() ? bytes == 0
                                     : offsets.front() == 0 && offsets.back() == bytes &&
                                           std::is_sorted(offsets.begin(), offsets.end());
  if (!whole) throw Error(Status::kInvalidOption, "offsets: they must ascend from 0 to the end of the texts");
}

std::vector<SearchMatch> unpacked(std::span<const PackedMatch> matches) {
  std::vector<SearchMatch> found;
  found.reserve(matches.size());
  for (const PackedMatch match : matches) found.push_back({match.position(), match.bytes()});
  return found;
}

}  // namespace

TextSearcher::TextSearcher(const SearchOptions& options) : impl_(std::make_unique<Impl>(options)) {}
TextSearcher::TextSearcher(const SearchOptions& options, const WebgpuDevice& device)
    : impl_(std::make_unique<Impl>(options, &device)) {}
TextSearcher::~TextSearcher() = default;
TextSearcher::TextSearcher(TextSearcher&&) noexcept = default;
TextSearcher& TextSearcher::operator=(TextSearcher&&) noexcept = default;

SearchedText TextSearcher::search(std::string_view text) const {
  SearchedText found;
  CallInPieces(impl_->options.between_pieces).run([&] {
    found = search_text(impl_->options, impl_->plan, text, std::nullopt);
  });
  return found;
}

std::vector<SearchedText> TextSearcher::search(std::span<const std::byte> texts,
                                               std::span<const std::uint64_t> offsets) const {
  check_offsets(texts.size(), offsets);
  const SearchTexts all{texts, offsets};
  std::vector<SearchedText> found(all.count());
  const SearchOptions& options = impl_->options;
  const SearchPlan& plan = impl_->plan;
  // The processor searches plain texts among compressed ones.
  std::vector<char> is_done(all.count(), 0);
  std::optional<std::vector<PackedMatch>> matches;
  CallInPieces call(options.between_pieces);
  call.run([&] {
    run_on_threads(resolve_threads(options.threads), [&] {
      if (impl_->device) {
        const std::scoped_lock lock(impl_->device_turn);
        impl_->device->use_in_this_thread();
        // The device returns only texts with a match; with `invert`, lines of the others are wanted too.
        if (options.decompress && !options.invert)
          impl_->device->find_in_compressed(
              all, UINT64_MAX, true, [&](std::span<const RestoredFile> restored) {
                run_in_parallel(restored.size(), kGrain, [&](std::size_t i) {
                  const LooksBetweenPieces::Here here(&call);
                  const RestoredFile& one = restored[i];
                  found[one.file] = search_text(options, plan, one.text, MatchCursor(one.matches, one.begin));
                  is_done[one.file] = 1;
                });
              });
        else if (!options.decompress)
          matches = impl_->device->find(all);
      }
      run_in_parallel(all.count(), kGrain, [&](std::size_t i) {
        if (is_done[i]) return;
        const LooksBetweenPieces::Here here(&call);
        std::optional<MatchCursor> own;
        if (matches) own = matches_in(*matches, offsets[i], offsets[i + 1]);
        found[i] = search_text(options, plan, text_of(all.text(i)), own);
      });
    });
  });
  return found;
}

std::vector<SearchedText> TextSearcher::search_files(std::span<const std::string> paths) const {
  std::vector<SearchedText> found(paths.size());
  CallInPieces call(impl_->options.between_pieces);
  call.run([&] {
    run_on_threads(resolve_threads(impl_->options.threads), [&] {
      run_in_parallel(paths.size(), 1, [&](std::size_t i) {
        const LooksBetweenPieces::Here here(&call);
        found[i] = search_file(impl_->options, impl_->plan, paths[i]);
      });
    });
  });
  return found;
}

std::vector<SearchMatch> TextSearcher::find(std::span<const std::byte> texts,
                                            std::span<const std::uint64_t> offsets) const {
  check_offsets(texts.size(), offsets);
  if (!impl_->plan.patterns) return {};
  if (!impl_->device) {
    std::vector<SearchMatch> found;
    CallInPieces(impl_->options.between_pieces).run([&] {
      found = find_in_texts(text_of(texts), offsets, *impl_->plan.patterns);
    });
    return found;
  }
  const std::scoped_lock lock(impl_->device_turn);
  impl_->device->use_in_this_thread();
  return unpacked(impl_->device->find({texts, offsets}));
}

std::vector<SearchMatch> TextSearcher::find(const WebgpuTexts& texts) const {
  DeviceSearch& device = impl_->on_device();
  check_offsets(texts.offsets.empty() ? 0 : texts.offsets.back(), texts.offsets);
  const std::scoped_lock lock(impl_->device_turn);
  return unpacked(device.find(texts));
}

std::size_t TextSearcher::temp_bytes(const CudaTexts& texts) const {
  return impl_->on_device().temp_bytes(texts);
}

void TextSearcher::count_async(const CudaTexts& texts, std::uint64_t* d_count, void* d_temp,
                               std::size_t temp_bytes, CUstream_st* stream) const {
  impl_->on_device().count_async(texts, d_count, d_temp, temp_bytes, stream);
}

void TextSearcher::write_async(const CudaTexts& texts, std::uint64_t* d_matches, std::uint64_t room,
                               void* d_temp, std::size_t temp_bytes, CUstream_st* stream) const {
  impl_->on_device().write_async(texts, d_matches, room, d_temp, temp_bytes, stream);
}

}  // namespace hemstitch
