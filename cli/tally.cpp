#include "cli/tally.hpp"

#include <fmt/format.h>

#include <exception>
#include <new>

#include "cli/messages.hpp"

namespace hemstitch::cli {
namespace {

constexpr std::size_t kNamesInSummary = 10;

}  // namespace

void Tally::fail(const std::string& path, std::string_view what) {
  print_message(path, what);
  failed_.push_back(path);
}

void Tally::print_failures(std::size_t total) const {
  if (failed_.empty() || total < 2) return;
  std::string names;
  for (std::size_t i = 0; i < failed_.size() && i < kNamesInSummary; ++i)
    names += fmt::format("{}{}", i == 0 ? "" : ", ", shown_name(failed_[i]));
  if (failed_.size() > kNamesInSummary)
    names += fmt::format(" and {} more", failed_.size() - kNamesInSummary);
  print_message(fmt::format("{} of {} failed: {}", failed_.size(), total, names));
}

std::string_view failure_text() noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return "out of memory (use smaller blocks, fewer threads or --memory)";
  } catch (const std::exception& error) {
    return error.what();  // the exception stays valid while the caller's handler runs
  }
}

}  // namespace hemstitch::cli
