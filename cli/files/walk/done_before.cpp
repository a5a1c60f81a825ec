#include "cli/files/walk/done_before.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "cli/files/files.hpp"
#include "cli/files/output/disk_sync.hpp"
#include "cli/files/output/output.hpp"
#include "cli/files/output/remove_source.hpp"
#include "cli/messages.hpp"
#include "cli/progress.hpp"
#include "pipeline/stream.hpp"

namespace hemstitch::cli {
namespace {

// How many sources are removed after one sync of the disk: few, so that little time passes after they were
// compared.
constexpr std::size_t kSourcesTogether = 256;
constexpr std::uint64_t kBytesTogether = std::uint64_t{64} << 20;

std::pair<time_t, long> order_of(const timespec& time) { return {time.tv_sec, time.tv_nsec}; }

// The size of a file's content; nothing if its frames are not complete.
std::optional<std::uint64_t> whole_content_bytes(const FileName& file) {
  try {
    FileSource source(file);
    std::uint64_t content_bytes = 0;
    const FrameIndex index =
        index_stream(source, options_to_restore({}, source).format, [&](const IndexedFrame* frame) {
          content_bytes = frame == nullptr ? 0 : content_bytes + frame->content_bytes;
        });
    return index.trailing_garbage_at || index.end_missing ? std::nullopt : std::optional(content_bytes);
  } catch (const std::runtime_error&) {
    return std::nullopt;  // the work on this file will report the error
  }
}

struct Differs {};

// Compares what is written to it with a file.
class ComparingSink : public Sink {
 public:
  explicit ComparingSink(FileSource& other) : other_(other) {}

  void write(std::span<const std::byte> bytes) override {
    buffer_.resize(std::max(buffer_.size(), bytes.size()));
    const std::size_t count = other_.read(std::span(buffer_).first(bytes.size()));
    if (count != bytes.size() || std::memcmp(buffer_.data(), bytes.data(), count) != 0) throw Differs();
  }

  void require_end() {
    std::byte more;
    if (other_.read(std::span(&more, 1)) != 0) throw Differs();
  }

 private:
  FileSource& other_;
  std::vector<std::byte> buffer_;
};

class DoneSources {
 public:
  DoneSources(const Request& request, const RestoreOptions& options, Tally& tally)
      : request_(request), options_(options), tally_(tally) {
    options_.backend = "cpu";  // always available, and fast enough, since two files are read
  }

  void compare(const FileName& file) {
    try_with(file, [&] {
      const FileName target = output_of(request_, file).value();
      const bool together = request_.sync && sync_.take(*target.folder);
      auto source = std::make_unique<FileSource>(file);
      require_same(*source, target);
      if (request_.sync && !together) sync_file(target);
      source->close();
      compared_bytes_ += static_cast<std::uint64_t>(source->status().st_size);
      compared_.push_back(std::move(source));
    });
    if (compared_.size() >= kSourcesTogether || compared_bytes_ >= kBytesTogether) remove_compared();
  }

  void remove_compared() {
    std::string failure;
    try {
      sync_.finish();
    } catch (...) {
      failure = failure_text();
    }
    for (const auto& source : compared_)
      try_with(source->file(), [&] {
        if (!failure.empty()) throw ToolError(failure);
        if (report_warning(request_, source->file().path(), remove_source(request_, *source)) ==
            Outcome::kWarned)
          tally_.warn();
        else
          ++removed_count_;
      });
    sync_ = {};
    compared_.clear();
    compared_bytes_ = 0;
  }

  std::size_t removed_count() const { return removed_count_; }

 private:
  template <class Work>
  void try_with(const FileName& file, const Work& work) {
    try {
      work();
    } catch (...) {
      tally_.fail(file.path(), failure_text());
    }
  }

  void require_same(FileSource& source, const FileName& target_name) {
    await_later_stamps(request_, source);
    FileSource target(target_name);
    const bool compressing = request_.action == Action::kCompress;
    FileSource& compressed = compressing ? target : source;
    ComparingSink plain(compressing ? source : target);
    try {
      Progress progress(source.file().path(), compressed.total_bytes(), true, request_.quiet);
      const StreamReport report = restore_stream(compressed, plain, options_, progress_hooks(progress),
                                                 {DataPlace::kFile, DataPlace::kNowhere});
      plain.require_end();
      if (report.trailing_garbage_at || report.end_missing) throw Differs();
    } catch (const Differs&) {
      throw ToolError(fmt::format("'{}' exists and holds something else (-f overwrites it)",
                                  shown_name(target_name.path())));
    } catch (const Error& error) {
      if (!compressing) throw;
      throw ToolError(fmt::format("'{}' exists and cannot be restored (-f overwrites it): {}",
                                  shown_name(target_name.path()), error.what()));
    }
  }

  const Request& request_;
  RestoreOptions options_;
  Tally& tally_;
  BatchSync sync_;
  std::vector<std::unique_ptr<FileSource>> compared_;
  std::uint64_t compared_bytes_ = 0;
  std::size_t removed_count_ = 0;
};

}  // namespace

bool is_done_before(Action action, const FileName& source, const FileName& target) {
  struct stat read {
  }, written{};
  if (!target.stat(written) || !S_ISREG(written.st_mode) || !source.stat(read) ||
      order_of(written.st_mtim) != order_of(read.st_mtim) ||
      order_of(written.st_ctim) <= order_of(read.st_ctim))
    return false;
  const bool compressing = action == Action::kCompress;
  const std::optional<std::uint64_t> content = whole_content_bytes(compressing ? target : source);
  return content && *content == static_cast<std::uint64_t>(compressing ? read.st_size : written.st_size);
}

void remove_done_sources(const Request& request, const RestoreOptions& options,
                         const std::vector<FileName>& sources, Tally& tally) {
  DoneSources done(request, options, tally);
  for (const FileName& source : sources) done.compare(source);
  done.remove_compared();
  if (done.removed_count() > 0 && !request.quiet)
    print_message(fmt::format("removed {} {} done before", done.removed_count(),
                              done.removed_count() == 1 ? "source" : "sources"));
}

}  // namespace hemstitch::cli
