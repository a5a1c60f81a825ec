#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "messages.hpp"
#include "terminal.hpp"

namespace hemstitch::cli {
namespace {

constexpr std::chrono::milliseconds kFirstDraw{1000};
constexpr std::chrono::milliseconds kDrawInterval{100};
constexpr std::size_t kNameColumns = 24;
constexpr double kGiga = 1e9, kMega = 1e6;
constexpr double kLeastGbps = 0.01;  // what is slower is told in MB/s
constexpr const char* kClearLine = "\r\033[K";

}  // namespace

std::string shown_speed(std::uint64_t content_bytes, double seconds) {
  if (content_bytes == 0 || seconds <= 0) return "- GB/s";
  const double gbps = static_cast<double>(content_bytes) / seconds / kGiga;
  return gbps >= kLeastGbps ? fmt::format("{:.3g} GB/s", gbps)
                            : fmt::format("{:.3f} MB/s", gbps * kGiga / kMega);
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

Progress::Progress(const std::string& path, std::optional<std::uint64_t> total_bytes, bool restoring,
                   bool quiet)
    : name_(shown_name(path)),
      total_bytes_(total_bytes),
      restoring_(restoring),
      enabled_(!quiet && is_terminal(STDERR_FILENO)),
      next_draw_(start_ + kFirstDraw) {
  const std::size_t slash = name_.rfind('/');
  if (slash != std::string::npos) name_.erase(0, slash + 1);
  if (name_.size() > kNameColumns) name_ = name_.substr(0, kNameColumns - 3) + "...";
}

Progress::~Progress() {
  if (shown_) std::fputs(kClearLine, stderr);
}

void Progress::update(std::uint64_t input_bytes, std::uint64_t output_bytes) {
  const Clock::time_point now = Clock::now();
  if (!enabled_ || now < next_draw_) return;
  next_draw_ = now + kDrawInterval;
  shown_ = true;
  const std::string text = kClearLine + line(input_bytes, output_bytes);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

double Progress::elapsed_seconds() const {
  return std::chrono::duration<double>(Clock::now() - start_).count();
}

std::string Progress::line(std::uint64_t input_bytes, std::uint64_t output_bytes) const {
  const std::uint64_t content_bytes = restoring_ ? output_bytes : input_bytes;
  const std::uint64_t compressed_bytes = restoring_ ? input_bytes : output_bytes;
  const double seconds = elapsed_seconds();
  std::string text = fmt::format("{}  {}", name_, shown_bytes(input_bytes));
  if (total_bytes_) text += " of " + shown_bytes(*total_bytes_);
  if (compressed_bytes > 0)
    text += fmt::format("  ratio {:.3f}",
                        static_cast<double>(content_bytes) / static_cast<double>(compressed_bytes));
  text += "  " + shown_speed(content_bytes, seconds);
  if (total_bytes_ && input_bytes > 0 && input_bytes <= *total_bytes_) {
    const double rest =
        static_cast<double>(*total_bytes_ - input_bytes) / static_cast<double>(input_bytes) * seconds;
    const auto left = static_cast<std::uint64_t>(rest + 0.5);
    text += fmt::format("  {}:{:02} left", left / 60, left % 60);
  }
  return text;
}

}  // namespace hemstitch::cli
