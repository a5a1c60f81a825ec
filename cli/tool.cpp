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

#include "cli/advice.hpp"
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

// If a standard stream is closed, a file that is opened later would take its number, and messages would be
// written into it.
void occupy_closed_streams() {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(number, F_GETFD) < 0)  // reading and writing still fail, as on a closed stream
      open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

// A folder of this name does not matter: without -r it would only be an error.
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
  // stdio buffers tables and help, so a failure to write them is silent unless it is checked.
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  print_message("stdout", std::strerror(errno));
  return error_status;
}

}  // namespace

int run_tool(int argument_count, char** arguments) {
  // Mesa's Vulkan layer that selects a default GPU complains on stderr if there is no display. We select the
  // device ourselves.
  setenv("NODEVICE_SELECT", "1", 0);
  give_advice_of_the_tool();
  occupy_closed_streams();
  let_stdout_wait();
  let_starts_outlive_runs();
  std::string_view program = argument_count > 0 ? arguments[0] : "";
  program.remove_prefix(program.rfind('/') + 1);  // npos + 1 is 0
  const bool searches =
      !is_restoring_name(program) && argument_count > 1 && std::string_view(arguments[1]) == "search";
  const int error_status = searches ? kExitTrouble : kExitError;
  const auto run = [&] {
    try {
      const std::vector<std::string> words(arguments + std::min(argument_count, 1),
                                           arguments + argument_count);
      return is_restoring_name(program) ? run_restoring_name(program, words) : run_words(words);
    } catch (const UsageError& error) {
      print_usage_error(error, "hemstitch --help");
    } catch (const std::system_error& error) {
      // Printing throws as soon as stdout fails; flushed_status() reports that, with stdout's name.
      if (std::ferror(stdout) == 0) print_message(error.what());
    } catch (...) {
      print_message(failure_text());
    }
    return error_status;
  };
  const int status = flushed_status(run(), error_status);
  // All files are closed and have their names. A driver that is still starting must not run while exit()
  // calls destructors.
  if (left_starts().count != 0) std::_Exit(status);
  return status;
}

}  // namespace hemstitch::cli
