#include "each_file.hpp"

#include <fmt/format.h>

#include <exception>
#include <new>
#include <string_view>
#include <vector>

#include "messages.hpp"
#include "walk.hpp"

namespace hemstitch::cli {
namespace {

constexpr std::size_t kNamesInSummary = 10;

class Tally {
 public:
  void fail(const std::string& path, std::string_view what) {
    print_message(path, what);
    failed_.push_back(path);
  }
  void warn() { warned_ = true; }

  void print_failures(std::size_t total) const {
    if (failed_.empty() || total < 2) return;
    std::string names;
    for (std::size_t i = 0; i < failed_.size() && i < kNamesInSummary; ++i)
      names += fmt::format("{}{}", i == 0 ? "" : ", ", shown_name(failed_[i]));
    if (failed_.size() > kNamesInSummary)
      names += fmt::format(" and {} more", failed_.size() - kNamesInSummary);
    print_message(fmt::format("{} of {} failed: {}", failed_.size(), total, names));
  }

  int exit_status() const { return !failed_.empty() ? kExitError : warned_ ? kExitWarning : kExitDone; }

 private:
  std::vector<std::string> failed_;
  bool warned_ = false;
};

}  // namespace

int for_each_file(const Request& request, const std::function<Outcome(const std::string& path)>& work) {
  Walk walk;
  if (request.recursive)
    walk = walk_inputs(request);
  else
    walk.files = request.files;

  Tally tally;
  for (const Walk::Failure& failure : walk.failures) tally.fail(failure.path, failure.what);
  for (const std::string& path : walk.files) {
    try {
      if (work(path) == Outcome::kWarned) tally.warn();
    } catch (const std::bad_alloc&) {
      tally.fail(path, "out of memory (use smaller blocks, fewer threads or --memory)");
    } catch (const std::exception& error) {
      tally.fail(path, error.what());
    }
  }
  if (!request.quiet && !walk.skipped.empty()) print_message(walk.skipped);
  if (!request.quiet) tally.print_failures(walk.files.size() + walk.failures.size());
  return tally.exit_status();
}

}  // namespace hemstitch::cli
