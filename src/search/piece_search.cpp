#include "search/piece_search.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace hemstitch {
namespace {

using Piece = LineSearcher::Piece;

constexpr std::size_t kReadPieceBytes = 256 << 10;

class PieceSink : public Sink {
 public:
  PieceSink(PieceSearch& pieces, std::atomic<bool>& done, const std::function<void()>& paused)
      : pieces_(pieces), done_(done), paused_(paused) {}
  void write(std::span<const std::byte> bytes) override {
    pieces_.take(bytes);
    if (pieces_.done()) done_ = true;
  }
  void flush() override {
    if (done_) return;
    pieces_.tell_now();
    paused_();
  }

 private:
  PieceSearch& pieces_;
  std::atomic<bool>& done_;
  const std::function<void()>& paused_;
};

}  // namespace

std::span<std::byte> PieceSearch::room() {
  while (filled_bytes_ == memory_.size() && !done()) {
    const std::span<std::byte> larger = more_memory_();
    if (larger.empty()) {
      search(Piece::kFull);
    } else {
      std::copy_n(memory_.begin(), filled_bytes_, larger.begin());
      memory_ = larger;
    }
  }
  const std::size_t most_bytes =
      kReadPieceBytes - std::min(kReadPieceBytes - 1, filled_bytes_ - searched_bytes_);
  return memory_.subspan(filled_bytes_, std::min(most_bytes, memory_.size() - filled_bytes_));
}

void PieceSearch::received(std::size_t bytes, bool tell_now) {
  filled_bytes_ += bytes;
  if (tell_now)
    search(Piece::kSoFar);
  else if (filled_bytes_ - searched_bytes_ >= kReadPieceBytes || filled_bytes_ == memory_.size())
    search(Piece::kMore);
}

void PieceSearch::take(std::span<const std::byte> content) {
  while (!content.empty() && !done()) {
    const std::span<std::byte> to = room();
    const std::size_t bytes = std::min(to.size(), content.size());
    std::copy_n(content.begin(), bytes, to.begin());
    content = content.subspan(bytes);
    received(bytes, false);
  }
}

void PieceSearch::tell_now() {
  if (!done() && filled_bytes_ != searched_bytes_) search(Piece::kSoFar);
}

void PieceSearch::finish() {
  if (!done()) search(Piece::kLast);
}

void PieceSearch::search(Piece piece) {
  const std::string_view window(reinterpret_cast<const char*>(memory_.data()), filled_bytes_);
  const std::size_t unneeded = searcher_.take(window, piece);
  filled_bytes_ -= unneeded;
  if (unneeded != 0) std::memmove(memory_.data(), memory_.data() + unneeded, filled_bytes_);
  searched_bytes_ = filled_bytes_;
}

std::optional<std::uint64_t> search_restored(Source& source, PieceSearch& pieces,
                                             const RestoreOptions& options,
                                             const std::function<void()>& paused) {
  std::atomic<bool> done = false;
  PieceSink sink(pieces, done, paused);
  try {
    const StreamReport report =
        restore_stream(source, sink, options, {.progress = {}, .cancelled = &done, .stays_on_thread = true});
    return done ? std::nullopt : report.trailing_garbage_at;
  } catch (const Error&) {
    if (done) return std::nullopt;
    throw;
  }
}

}  // namespace hemstitch
