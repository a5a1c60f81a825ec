#include "cli/tool.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "cli/commands.hpp"
#include "cli/help.hpp"
#include "cli/messages.hpp"
#include "cli/options/option_values.hpp"
#include "cli/tally.hpp"
#include "cli/terminal.hpp"
#include "cli/waiting_streams.hpp"
#include "engine/device_start.hpp"

namespace hemstitch::cli {
namespace {

// Files opened later would take the place of a standard stream that is closed, and messages would go into them.
void occupy_closed_streams() {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(number, F_GETFD) < 0)  // reading and writing still fail, as they do where it is closed
      open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

// A folder of that name is no reason to hesitate: without -r it could only be an error.
bool is_file(const std::string& path) {
  struct stat status {};
  return lstat(path.c_str(), &status) == 0 && !S_ISDIR(status.st_mode);
}

int run_words(const std::vector<std::string>& words) {
  if (words.empty() && is_terminal(STDIN_FILENO) && is_terminal(STDOUT_FILENO)) {
    print_short_help();
    return kExitDone;
  }
  const auto command = std::ranges::find(commands(), words.empty() ? "" : words.front(), &Command::name);
  if (command == commands().end()) return run_files(words);
  if (is_file(words.front()))
    throw UsageError(
        fmt::format("'{0}' is a command, and a file of that name is here: write ./{0} for the file; "
                    "for the command, go to another folder",
                    command->name));
  return command->run(std::span(words).subspan(1));
}

int flushed_status(int status, int error_status) {
  // Tables and help are lost as silently as stdio buffers them, unless asked.
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  print_message("stdout", std::strerror(errno));
  return error_status;
}

}  // namespace

int run_tool(int argument_count, char** arguments) {
  // Mesa's Vulkan layer that picks a default GPU complains on stderr where there is no display; we pick ourselves.
  setenv("NODEVICE_SELECT", "1", 0);
  occupy_closed_streams();
  let_stdout_wait();
  let_starts_outlive_runs();
  const bool searches = argument_count > 1 && std::string_view(arguments[1]) == "search";
  const int error_status = searches ? kExitTrouble : kExitError;
  const auto run = [&] {
    try {
      return run_words({arguments + 1, arguments + argument_count});
    } catch (const UsageError& error) {
      print_usage_error(error, "hemstitch -h");
    } catch (const std::system_error& error) {
      // Printing ends at once where stdout takes no more; that is told below, with stdout's name.
      if (std::ferror(stdout) == 0) print_message(error.what());
    } catch (...) {
      print_message(failure_text());
    }
    return error_status;
  };
  const int status = flushed_status(run(), error_status);
  // All files are closed and have their names. A driver that still starts must not meet the destructors of exit().
  if (left_starts().count != 0) std::_Exit(status);
  return status;
}

}  // namespace hemstitch::cli
