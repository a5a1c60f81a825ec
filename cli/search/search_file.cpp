#include "cli/search/search_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "cli/files/output/output.hpp"
#include "cli/files/regular_file.hpp"
#include "cli/messages.hpp"
#include "cli/tally.hpp"
#include "core/status.hpp"
#include "format/identify.hpp"
#include "pipeline/stream.hpp"

namespace hemstitch::cli {
namespace {

// About the size of a core's cache. Few files are larger.
constexpr std::size_t kSmallFileBytes = 256 << 10;

bool is_compressed(std::span<const std::byte> first_bytes) {
  return identify_data(first_bytes).kind == DataKind::kFrame;
}

// With -z, data of other tools is searched as it is, and nothing is found: that needs a word, but not the
// exit status, since a text may begin with the same bytes.
void tell_of_foreign(std::span<const std::byte> first_bytes, FileReport& report) {
  const DataIdentity identity = identify_data(first_bytes);
  if (identity.kind == DataKind::kForeign && report.complaint.empty())
    report.complaint = fmt::format("is {} data, whose content is not searched ({} restores it)",
                                   identity.foreign_name, identity.foreign_tool);
}

}  // namespace

SharedMemory::Share::Share(SharedMemory& memory, std::uint64_t bytes) : memory_(memory), bytes_(bytes) {
  std::unique_lock lock(memory_.mutex_);
  memory_.given_back_.wait(lock, [&] { return bytes_ <= memory_.left_bytes_; });
  memory_.left_bytes_ -= bytes_;
}

SharedMemory::Share::~Share() {
  const std::scoped_lock lock(memory_.mutex_);
  memory_.left_bytes_ += bytes_;
  memory_.given_back_.notify_all();
}

FileSearcher::FileSearcher(const SearchRequest& request, const Reporter& reporter, const SearchMemory& memory,
                           SharedMemory& restoring, SearchRoom& room)
    : request_(request),
      reporter_(reporter),
      memory_(memory),
      restoring_(restoring),
      room_(room),
      piece_(memory.piece_bytes),
      restorer_(memory.restored_bytes) {}

std::span<std::byte> FileSearcher::small_file_room() const {
  return piece().first(std::min(piece().size(), kSmallFileBytes));
}

bool FileSearcher::search_whole(const std::string& name, std::span<const std::byte> content, bool has_hole,
                                std::optional<MatchCursor> matches, FileReport& report) {
  const std::span<const std::byte> first_bytes = content.first(std::min(content.size(), kIdentifyBytes));
  const bool is_stored = !matches && request_.options.decompress;
  if (is_stored && is_compressed(first_bytes)) {
    const auto restored = restorer_.restore(content);
    if (!restored) return false;
    content = *restored;
    has_hole = false;
  }
  const std::string_view text(reinterpret_cast<const char*>(content.data()), content.size());
  ContentReport search(reporter_, name, has_hole, report, room_);
  search.searcher().take_whole(text, matches ? *matches : MatchCursor(text, reporter_.patterns()));
  search.finish();
  if (is_stored) tell_of_foreign(first_bytes, report);
  return true;
}

// What was read before an error is searched.
template <class Feed>
void FileSearcher::search_fed(const std::string& name, bool has_hole, FileReport& report, const Feed& feed) {
  ContentReport search(reporter_, name, has_hole, report, room_);
  PieceSearch pieces(search.searcher(), piece(), [&] { return room_.more_memory(); });
  std::string complaint;
  try {
    feed(pieces);
  } catch (const std::exception&) {
    complaint = failure_text();
  }
  pieces.finish();
  search.finish();
  if (complaint.empty()) return;
  report.complaint = std::move(complaint);
  report.trouble = true;
}

void FileSearcher::search_pieces(const std::string& name, const Descriptor& file, const struct stat& status,
                                 FileReport& report) {
  SearchSource source(file);
  if (request_.options.decompress && is_compressed(source.first_bytes()))
    return search_restored(name, source, report);
  if (request_.options.decompress) tell_of_foreign(source.first_bytes(), report);
  const bool regular = S_ISREG(status.st_mode);
  const bool hole = regular && reporter_.selection().binary != LineSelection::Binary::kText &&
                    has_hole(file, kFirstReadBytes, static_cast<std::uint64_t>(status.st_size));
  search_fed(name, hole, report, [&](PieceSearch& pieces) {
    while (!pieces.done()) {
      const std::size_t bytes = source.read_some(pieces.room());
      if (bytes == 0) break;
      pieces.received(bytes, !regular);
      if (regular && !request_.line_buffered) continue;
      room_.grown(report);
      if (request_.line_buffered || !source.comes_within(std::chrono::milliseconds(0))) room_.paused(report);
    }
  });
}

void FileSearcher::search_restored(const std::string& name, Source& source, FileReport& report) {
  search_fed(name, false, report, [&](PieceSearch& pieces) { restore(source, pieces, report); });
}

void FileSearcher::restore(Source& source, PieceSearch& pieces, FileReport& report) {
  RestoreOptions options;
  // Of many files, a device restores the short ones, in batches. A single file it restores as a whole.
  const bool on_device = request_.is_of_one_file() && request_.options.backend == "cuda";
  options.backend = on_device ? "cuda" : "cpu";
  if (on_device) options.device = request_.options.device;
  // Many files are restored in parallel, with one thread each; a single stream, with all threads.
  options.threads = request_.is_of_one_file() ? memory_.threads : 1;
  options.memory_limit_bytes = room_.restoring_bytes(restoring_.bytes());
  const SharedMemory::Share share(restoring_, options.memory_limit_bytes);
  try {
    const auto paused = [&] { room_.paused(report); };
    if (const auto warning = garbage_warning(hemstitch::search_restored(source, pieces, options, paused)))
      throw ToolError(*warning);
  } catch (const Error& error) {
    if (error.status() == Status::kMemoryLimit && options.memory_limit_bytes != restoring_.bytes())
      throw MustWait();
    throw;
  }
}

}  // namespace hemstitch::cli
