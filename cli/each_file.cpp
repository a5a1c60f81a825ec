#include "each_file.hpp"

#include <utility>

#include "messages.hpp"
#include "walk.hpp"

namespace hemstitch::cli {

int for_each_file(const Request& request, const std::function<Outcome(const std::string& path)>& work,
                  const BatchWork& batches) {
  Walk walk;
  if (request.recursive)
    walk = walk_inputs(request);
  else
    walk.files = request.files;

  Tally tally;
  for (const Walk::Failure& failure : walk.failures) tally.fail(failure.path, failure.what);
  const std::size_t total = walk.files.size() + walk.failures.size();
  if (request.recursive && batches) walk.files = batches(std::move(walk.files), tally);
  for (const std::string& path : walk.files) {
    try {
      if (work(path) == Outcome::kWarned) tally.warn();
    } catch (...) {
      tally.fail(path, failure_text());
    }
  }
  if (!request.quiet && !walk.skipped.empty()) print_message(walk.skipped);
  if (!request.quiet) tally.print_failures(total);
  return tally.exit_status();
}

}  // namespace hemstitch::cli
