#include "engine/staging.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

namespace hemstitch {
namespace {

// Blocks that may begin anywhere in device memory begin at such places, so that reads of 16 bytes are
// aligned.
constexpr std::size_t kBlockAlignmentBytes = 16;

std::size_t aligned(std::size_t at) {
  return (at + kBlockAlignmentBytes - 1) / kBlockAlignmentBytes * kBlockAlignmentBytes;
}

void upload(Staging& staging, std::span<const std::byte> from) {
  if (from.empty()) return;
  if (!staging.uploads.empty()) {
    Staging::Upload& last = staging.uploads.back();
    if (last.from.data() + last.from.size() == from.data() &&
        last.at + last.from.size() == staging.input_bytes) {
      last.from = {last.from.data(), last.from.size() + from.size()};
      staging.input_bytes += from.size();
      return;
    }
  }
  staging.uploads.push_back({from, staging.input_bytes});
  staging.input_bytes += from.size();
}

// Whether the host bytes uploaded last end where `block` begins.
bool follows_last(const Staging& staging, std::span<const std::byte> block) {
  if (staging.uploads.empty()) return false;
  const Staging::Upload& last = staging.uploads.back();
  return last.at + last.from.size() == staging.input_bytes &&
         last.from.data() + last.from.size() == block.data();
}

// Whether the bytes that will lie before `block` anyway, once it is uploaded, are its history.
bool history_is_there(const Staging& staging, std::span<const std::byte> history,
                      std::span<const std::byte> block) {
  if (!follows_last(staging, block)) return false;
  return history.empty() || (history.data() + history.size() == block.data() &&
                             staging.uploads.back().from.size() >= history.size());
}

// To begin a copy takes as long as to transfer some tens of kilobytes, so unused bytes in between are copied
// too.
constexpr std::size_t kMostUnusedBytes = 4096;

// Where a task's input lies if all inputs are uploaded in one piece.
std::size_t place_in_whole(const Staging& staging, const BlockTask& task) {
  return task.input.empty() ? 0
                            : static_cast<std::size_t>(task.input.data() - staging.uploads[0].from.data());
}

}  // namespace

Staging stage_for_compression(std::span<const BlockTask> tasks, bool one_memory) {
  Staging staging;
  staging.tasks.reserve(tasks.size());
  if (one_memory) upload(staging, whole_input(tasks));
  for (const BlockTask& task : tasks) {
    const auto history = task.history;
    StagedTask staged;
    if (one_memory) {
      staged.input_at = place_in_whole(staging, task);
    } else {
      if (!history_is_there(staging, history, task.input)) {
        staging.input_bytes = aligned(staging.input_bytes);
        upload(staging, history);
      }
      staged.input_at = staging.input_bytes;
      upload(staging, task.input);
    }
    staged.history_bytes = static_cast<std::uint32_t>(history.size());
    staged.output_at = staging.output_bytes;
    staging.output_bytes = aligned(staging.output_bytes + task.output.size());
    staging.tasks.push_back(staged);
  }
  return staging;
}

std::span<const std::byte> whole_input(std::span<const BlockTask> tasks) {
  // Between blocks lie checksums, and stored blocks, which no engine restores; between kept pages, those that are
  // not compressed. A bus transfers about five times as much as a core copies in the same time, so as many
  // unused bytes again cost nothing.
  constexpr std::size_t kMostBetweenBytes = 4096;
  if (tasks.empty()) return {};
  std::size_t input_bytes = tasks[0].input.size(), between_bytes = 0, most_between_bytes = 0;
  for (std::size_t i = 1; i < tasks.size(); ++i) {
    const std::byte* const end = tasks[i - 1].input.data() + tasks[i - 1].input.size();
    if (std::less<>()(tasks[i].input.data(), end)) return {};
    const auto bytes = static_cast<std::size_t>(tasks[i].input.data() - end);
    input_bytes += tasks[i].input.size();
    between_bytes += bytes;
    most_between_bytes = std::max(most_between_bytes, bytes);
  }
  if (most_between_bytes > kMostBetweenBytes && between_bytes > input_bytes) return {};
  return {tasks.front().input.data(), tasks.back().input.data() + tasks.back().input.size()};
}

Staging stage_for_restoration(std::span<const BlockTask> tasks, bool one_memory) {
  Staging staging;
  staging.tasks.reserve(tasks.size());
  if (one_memory) upload(staging, whole_input(tasks));
  for (const BlockTask& task : tasks) {
    const auto history = task.history;
    StagedTask staged;
    if (one_memory) {
      staged.input_at = place_in_whole(staging, task);
    } else {
      staging.input_bytes = aligned(staging.input_bytes);
      staged.input_at = staging.input_bytes;
      upload(staging, task.input);
    }
    staged.history_bytes = static_cast<std::uint32_t>(history.size());
    staging.output_bytes += history.size();
    staged.output_at = staging.output_bytes;
    staging.output_bytes += task.output.size();
    staging.tasks.push_back(staged);
  }
  std::map<std::pair<const std::byte*, std::size_t>, std::size_t> places;  // of histories, in the input span
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const auto history = tasks[i].history;
    if (history.empty()) continue;
    const auto [place, is_new] = places.try_emplace({history.data(), history.size()}, 0);
    if (is_new) {
      staging.input_bytes = aligned(staging.input_bytes);
      place->second = staging.input_bytes;
      upload(staging, history);
    }
    staging.moves.push_back({place->second, staging.tasks[i].output_at - history.size(), history.size()});
  }
  return staging;
}

std::vector<StagedSpan> results_of(const Staging& staging, std::span<const BlockTask> tasks) {
  std::vector<StagedSpan> spans;
  std::size_t unused_bytes = 0;  // in the room of the last span's last block
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (tasks[i].status != Status::kOk || tasks[i].output_bytes == 0) continue;
    const StagedSpan span{staging.tasks[i].output_at, tasks[i].output.first(tasks[i].output_bytes)};
    const std::size_t passed_bytes =
        spans.empty() ? 0 : spans.back().to.size() + (unused_bytes <= kMostUnusedBytes ? unused_bytes : 0);
    if (!spans.empty() && spans.back().at + passed_bytes == span.at &&
        spans.back().to.data() + passed_bytes == span.to.data())
      spans.back().to = {spans.back().to.data(), passed_bytes + span.to.size()};
    else
      spans.push_back(span);
    unused_bytes = tasks[i].output.size() - tasks[i].output_bytes;
  }
  return spans;
}

void clear_unused_rooms(std::span<const BlockTask> tasks) {
  for (const BlockTask& task : tasks) {
    const std::size_t unused_bytes = task.output.size() - task.output_bytes;
    if (task.status == Status::kOk && unused_bytes <= kMostUnusedBytes)
      std::ranges::fill(task.output.last(unused_bytes), std::byte{});
  }
}

bool come_down_alone(std::span<const StagedSpan> spans) {
  // Somewhat more than a core copies in the time that it takes to begin a copy.
  constexpr std::size_t kLeastAloneBytes = std::size_t{32} << 10;
  std::size_t bytes = 0;
  for (const StagedSpan& span : spans) bytes += span.to.size();
  return spans.size() <= 1 || bytes / spans.size() >= kLeastAloneBytes;
}

std::vector<StagedRun> runs_of(std::span<const StagedSpan> spans) {
  std::vector<StagedRun> runs;
  for (const StagedSpan& span : spans) {
    const std::size_t end = runs.empty() ? 0 : runs.back().at + runs.back().bytes;
    if (!runs.empty() && span.at - end <= kMostUnusedBytes)
      runs.back().bytes = span.at + span.to.size() - runs.back().at;
    else
      runs.push_back({span.at, span.to.size()});
  }
  return runs;
}

}  // namespace hemstitch
