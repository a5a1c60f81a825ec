#include "pipeline/doubtful_blocks.hpp"

#include <algorithm>

#include "core/status.hpp"

namespace hemstitch {
namespace {

// How much of what may be a stream is restored to find out.
constexpr std::uint64_t kMostTriedBytes = std::uint64_t{1} << 20;

}  // namespace

bool is_of_data(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Error& known) {
    const StatusFamily family = status_family(known.status());
    return family == StatusFamily::kFormat || family == StatusFamily::kCorrupt;
  } catch (...) {
    return false;
  }
}

void DoubtfulBlocks::begin_frame(bool keeps) {
  kept_.clear();
  keeping_ = keeps;
  passed_over_.reset();
}

void DoubtfulBlocks::end_frame() {
  keeping_ = false;
  error_of_blocks_ = nullptr;
}

void DoubtfulBlocks::keep(std::uint64_t at, std::span<const std::byte> bytes) {
  if (!keeping_) return;
  if (kept_.empty()) kept_at_ = at;
  const auto done = static_cast<std::size_t>(std::max(done_at_.load(), kept_at_) - kept_at_);
  if (done > kept_.size() / 2) {
    kept_.erase(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(done));
    kept_at_ += done;
  }
  kept_.insert(kept_.end(), bytes.begin(), bytes.end());
}

bool DoubtfulBlocks::passed_a_stream(const FrameStream& frames) {
  if (!passed_over_) return false;
  const std::span<const std::byte> kept = kept_from(passed_over_->data_at);
  MemorySource source(kept);
  const StreamTrial trial = frames.format().try_stream(source, kept.size(), verifies_checksums_);
  if (trial.end != StreamTrial::End::kSound || trial.data_bytes == passed_over_->data_bytes) return false;
  doubtful_ = passed_over_;
  leaves_blocks_ = true;
  return true;
}

bool DoubtfulBlocks::doubts(std::optional<DoubtfulBlock> block, const std::exception_ptr& error) {
  if (!is_of_data(error)) return false;
  if (!block) block = unread_;
  if (!block) return false;
  doubtful_ = std::move(block);
  doubtful_->error = error;
  leaves_blocks_ = true;
  return true;
}

DoubtfulBlock DoubtfulBlocks::leave(const FrameFormat& format, bool keeps, Source* source) {
  const DoubtfulBlock block = *std::exchange(doubtful_, std::nullopt);
  const auto return_to_data = [&] {
    if (!keeps && (source == nullptr || !source->seek(block.data_at))) std::rethrow_exception(block.error);
  };
  error_of_blocks_ = block.error;
  if (block.error) {
    return_to_data();
    MemorySource kept(keeps ? kept_from(block.data_at) : std::span<const std::byte>());
    const std::uint64_t most_bytes = keeps ? *kept.total_bytes() : kMostTriedBytes;
    const StreamTrial trial =
        format.try_stream(keeps ? kept : *source, std::min(most_bytes, kMostTriedBytes), verifies_checksums_);
    if (trial.end == StreamTrial::End::kUnsound) std::rethrow_exception(block.error);
    if (trial.end == StreamTrial::End::kSound) error_of_blocks_ = nullptr;
  }
  return_to_data();
  unread_.reset();
  leaves_blocks_ = false;
  return block;
}

std::exception_ptr DoubtfulBlocks::reported(const std::exception_ptr& error) const {
  return error_of_blocks_ && is_of_data(error) ? error_of_blocks_ : error;
}

}  // namespace hemstitch
