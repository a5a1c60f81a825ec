#include "cli/progress.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "cli/messages.hpp"
#include "cli/status_line.hpp"
#include "cli/terminal.hpp"
#include "cli/units.hpp"
#include "pipeline/ring.hpp"

namespace hemstitch::cli {
namespace {

constexpr std::chrono::milliseconds kDrawInterval{100};
constexpr std::size_t kNameColumns = 24;
constexpr double kLeastGbps = 1;  // slower speeds are shown in MB/s
constexpr std::size_t kSizesGrain = 64;

TreeProgress* g_tree = nullptr;  // set and reset by the thread that visits the files

std::string shown_time(double seconds) {
  const auto whole = static_cast<std::uint64_t>(std::llround(seconds));
  const std::uint64_t minutes = whole / 60;
  if (minutes < 60) return fmt::format("{}:{:02}", minutes, whole % 60);
  return fmt::format("{}:{:02}:{:02}", minutes / 60, minutes % 60, whole % 60);
}

// "1.2 GB of 3.4 GB  ratio 2.100  0.43 GB/s  0:05 left". `at` is the position in the input; `worked` is what
// was read for it, and what was written.
std::string shown_work(std::uint64_t at, std::optional<std::uint64_t> total, const WorkDone& worked,
                       bool restoring, double seconds) {
  const std::uint64_t content_bytes = restoring ? worked.output_bytes : worked.input_bytes;
  const std::uint64_t compressed_bytes = restoring ? worked.input_bytes : worked.output_bytes;
  std::string text = shown_bytes(at);
  if (total) text += " of " + shown_bytes(*total);
  if (compressed_bytes > 0)
    text += fmt::format("  ratio {:.3f}",
                        static_cast<double>(content_bytes) / static_cast<double>(compressed_bytes));
  text += "  " + shown_speed(content_bytes, seconds);
  if (total && at > 0 && at <= *total)
    text += fmt::format("  {} left",
                        shown_time(static_cast<double>(*total - at) / static_cast<double>(at) * seconds));
  return text;
}

// The sizes of the files, as far as they are known.
std::vector<std::uint64_t> sizes_of(std::span<const FileName> files) {
  std::vector<std::uint64_t> sizes(files.size());
  run_in_parallel(files.size(), kSizesGrain, [&](std::size_t i) {
    struct stat status {};
    if (files[i].stat(status) && S_ISREG(status.st_mode))
      sizes[i] = static_cast<std::uint64_t>(status.st_size);
  });
  return sizes;
}

}  // namespace

std::string shown_speed(std::uint64_t content_bytes, double seconds) {
  if (content_bytes == 0 || seconds <= 0) return "- GB/s";
  const double gbps = static_cast<double>(content_bytes) / seconds / kGiga;
  if (gbps >= kLeastGbps) return fmt::format("{:.3g} GB/s", gbps);
  const double mbps = gbps * kGiga / kMega;
  return fmt::format("{:.{}f} MB/s", mbps, mbps >= 100 ? 0 : mbps >= 10 ? 1 : 3);
}

std::string shown_bytes(std::uint64_t bytes) {
  constexpr std::array<const char*, 5> kUnits{"B", "kB", "MB", "GB", "TB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1000 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", value, unit == 0 ? 0 : 1, kUnits[unit]);
}

bool DrawTimes::due() {
  const Clock::time_point now = Clock::now();
  if (now < next_) return false;
  next_ = now + kDrawInterval;
  return true;
}

double DrawTimes::elapsed_seconds() const {
  return std::chrono::duration<double>(Clock::now() - start_).count();
}

Progress::Progress(const std::string& path, std::optional<std::uint64_t> total_bytes, bool restoring,
                   bool quiet)
    : name_(shown_name(path)),
      total_bytes_(total_bytes),
      restoring_(restoring),
      enabled_(!quiet && is_terminal(STDERR_FILENO)),
      tree_(g_tree) {
  const std::size_t slash = name_.rfind('/');
  if (slash != std::string::npos) name_.erase(0, slash + 1);
  if (name_.size() > kNameColumns) name_ = name_.substr(0, kNameColumns - 3) + "...";
}

Progress::~Progress() {
  if (tree_ != nullptr)
    tree_->add(done_);
  else
    clear_status_line();
}

void Progress::update(std::uint64_t input_bytes, std::uint64_t output_bytes, std::uint64_t file_count) {
  if (!enabled_) return;
  done_ = {input_bytes, output_bytes, file_count};
  if (tree_ != nullptr)
    tree_->show(done_);
  else if (times_.due())
    draw_status_line(fmt::format(
        "{}  {}", name_, shown_work(input_bytes, total_bytes_, done_, restoring_, elapsed_seconds())));
}

TreeProgress::TreeProgress(std::span<const FileName> files, bool restoring, bool quiet)
    : enabled_(!quiet && is_terminal(STDERR_FILENO)), restoring_(restoring) {
  if (!enabled_) return;
  only_these_are_left(files);
  total_files_ = files.size();
  total_bytes_ = left_bytes_;
  g_tree = this;
}

TreeProgress::~TreeProgress() {
  if (!enabled_) return;
  g_tree = nullptr;
  clear_status_line();
}

void TreeProgress::only_these_are_left(std::span<const FileName> files) {
  if (!enabled_) return;
  left_ = sizes_of(files);
  std::ranges::reverse(left_);
  left_bytes_ = std::accumulate(left_.begin(), left_.end(), std::uint64_t{0});
}

void TreeProgress::next_file() {
  if (!enabled_) return;
  left_bytes_ -= left_.back();
  left_.pop_back();
}

void TreeProgress::show(const WorkDone& part) {
  if (!times_.due()) return;
  const WorkDone worked{worked_.input_bytes + part.input_bytes, worked_.output_bytes + part.output_bytes};
  const std::uint64_t files = total_files_ - left_.size() + part.file_count;
  const std::uint64_t at = total_bytes_ - left_bytes_ + part.input_bytes;
  draw_status_line(fmt::format("{} of {} files  {}", files, total_files_,
                               shown_work(at, total_bytes_, worked, restoring_, times_.elapsed_seconds())));
}

void TreeProgress::add(const WorkDone& part) {
  worked_.input_bytes += part.input_bytes;
  worked_.output_bytes += part.output_bytes;
}

}  // namespace hemstitch::cli
