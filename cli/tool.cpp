#include "cli/tool.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "cli/commands.hpp"
#include "cli/files/each_file.hpp"
#include "cli/help.hpp"
#include "cli/messages.hpp"
#include "cli/signals.hpp"
#include "cli/tally.hpp"
#include "cli/terminal.hpp"
#include "cli/waiting_streams.hpp"
#include "hemstitch/version.h"

namespace hemstitch::cli {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string line = "hemstitch";
  for (const std::string& word : words) line += ' ' + word;
  return line;
}

int run_request(const Request& request, const std::vector<std::string>& words) {
  switch (request.action) {
    case Action::kCompress:
      take_signals();
      return run_compress(request);
    case Action::kRestore:
    case Action::kTest:
      take_signals();
      return run_restore(request);
    case Action::kList:
      return run_list(request);
    case Action::kBench:
      return run_bench(request, joined(words));
    case Action::kCompareRuns:
      return run_compare(request);
    case Action::kBackends:
      return run_backends(request);
    case Action::kEvaluate:
      return run_evaluate(std::span(words).subspan(1));
    case Action::kAnalyze:
      return run_analyze(std::span(words).subspan(1));
    case Action::kSearch:
      return run_search(std::span(words).subspan(1));
    case Action::kHelp:
      fmt::print("{}", kHelp);
      return kExitDone;
    case Action::kVersion:
      fmt::print("hemstitch {}\n", HEMSTITCH_VERSION_STRING);
      return kExitDone;
  }
  return kExitError;
}

// Files opened later would take the place of a standard stream that is closed, and messages would go into them.
void occupy_closed_streams() {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(number, F_GETFD) < 0)  // reading and writing still fail, as they do where it is closed
      open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int run_words(const std::vector<std::string>& words) {
  if (words.empty() && is_terminal(STDIN_FILENO) && is_terminal(STDOUT_FILENO)) {
    fmt::print("{}", kShortHelp);
    return kExitDone;
  }
  return run_request(parse_arguments(words), words);
}

}  // namespace

int run_tool(int argument_count, char** arguments) {
  // Mesa's Vulkan layer that picks a default GPU complains on stderr where there is no display; we pick ourselves.
  setenv("NODEVICE_SELECT", "1", 0);
  occupy_closed_streams();
  let_stdout_wait();
  const bool searches = argument_count > 1 && std::string_view(arguments[1]) == "search";
  const int error_status = searches ? kExitTrouble : kExitError;
  int status = error_status;
  try {
    status = run_words({arguments + 1, arguments + argument_count});
  } catch (const UsageError& error) {
    print_usage_error(error, "hemstitch -h");
  } catch (const std::system_error& error) {
    // Printing ends at once where stdout takes no more; that is told below, with stdout's name.
    if (std::ferror(stdout) == 0) print_message(error.what());
  } catch (...) {
    print_message(failure_text());
  }
  // Tables and help are lost as silently as stdio buffers them, unless asked.
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    print_message("stdout", std::strerror(errno));
    return error_status;
  }
  return status;
}

}  // namespace hemstitch::cli
