#include "core/time_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>

namespace hemstitch {
namespace {

// Enough to see how batches overlap; a large file would have thousands.
constexpr std::size_t kMostIntervals = 1024;
constexpr std::size_t kMostPieces = 1024;

}  // namespace

std::string_view stage_name(Stage stage) {
  constexpr std::array<std::string_view, kStageCount> kNames = {"start",  "read",     "upload",
                                                                "kernel", "download", "write"};
  return kNames[static_cast<std::size_t>(stage)];
}

Stage TimeReport::bound_by() const {
  const auto longest = std::ranges::max_element(stages, {}, &Sum::wall_seconds);
  return static_cast<Stage>(longest - stages.begin());
}

std::string TimeReport::text() const {
  std::string text = fmt::format("{:.2f} s:", wall_seconds);
  std::string_view separator = " ";
  for (std::size_t i = 0; i < kStageCount; ++i) {
    if (stages[i].busy_seconds == 0) continue;
    text += fmt::format("{}{} {:.2f}", std::exchange(separator, ", "), stage_name(static_cast<Stage>(i)),
                        stages[i].wall_seconds);
  }
  return text + fmt::format("; bound by {}", stage_name(bound_by()));
}

void CoveredTime::add(double begin, double end) {
  begin = std::max(begin, settled_until_);
  if (begin >= end) return;
  const auto first = std::ranges::lower_bound(pieces_, begin, {}, &std::pair<double, double>::second);
  auto beyond = first;
  for (; beyond != pieces_.end() && beyond->first <= end; ++beyond) {
    begin = std::min(begin, beyond->first);
    end = std::max(end, beyond->second);
  }
  pieces_.insert(pieces_.erase(first, beyond), {begin, end});
  if (pieces_.size() <= kMostPieces) return;
  const auto settled = pieces_.begin() + kMostPieces / 2;
  for (auto piece = pieces_.begin(); piece != settled; ++piece)
    settled_seconds_ += piece->second - piece->first;
  settled_until_ = (settled - 1)->second;
  pieces_.erase(pieces_.begin(), settled);
}

double CoveredTime::seconds() const {
  double seconds = settled_seconds_;
  for (const auto& [begin, end] : pieces_) seconds += end - begin;
  return seconds;
}

void TimeLine::add(const StageInterval& interval) noexcept {
  const auto stage = static_cast<std::size_t>(interval.stage);
  const std::scoped_lock lock(mutex_);
  busy_seconds_[stage] += std::max(0.0, interval.end - interval.begin);
  try {
    covered_[stage].add(interval.begin, interval.end);
    if (intervals_.size() < kMostIntervals) intervals_.push_back(interval);
  } catch (const std::bad_alloc&) {
    // The report lacks an interval, but the run continues.
  }
}

std::uint64_t TimeLine::next_batch() {
  const std::scoped_lock lock(mutex_);
  return ++batches_;
}

TimeReport TimeLine::report() const {
  TimeReport report;
  report.wall_seconds = now();
  const std::scoped_lock lock(mutex_);
  for (std::size_t i = 0; i < kStageCount; ++i) report.stages[i] = {busy_seconds_[i], covered_[i].seconds()};
  report.intervals = intervals_;
  return report;
}

}  // namespace hemstitch
