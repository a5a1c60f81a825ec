#include "cli/bench/recorded_run.hpp"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <ctime>
#include <fstream>
#include <thread>

#include "build_info.hpp"
#include "cli/files/files.hpp"
#include "cli/messages.hpp"

extern char** environ;

namespace hemstitch::cli {
namespace {

constexpr std::size_t kSha256Digits = 64;

void write_all(int descriptor, std::span<const std::byte> data) {
  while (!data.empty()) {
    const ssize_t count = write(descriptor, data.data(), data.size());
    if (count < 0 && errno != EINTR) throw tool_error_from_errno("hashing the data");
    if (count > 0) data = data.subspan(static_cast<std::size_t>(count));
  }
}

// Calls the system's sha256sum with a file in memory: hashing is not worth a library of its own.
std::string sha256(std::span<const std::byte> data) {
  const Descriptor input(memfd_create("hemstitch-bench", 0));
  std::array<int, 2> ends{-1, -1};
  if (input.number() < 0 || pipe(ends.data()) != 0) throw tool_error_from_errno("hashing the data");
  const Descriptor reading(ends[0]);
  Descriptor writing(ends[1]);
  write_all(input.number(), data);
  lseek(input.number(), 0, SEEK_SET);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input.number(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, writing.number(), STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, reading.number());
  std::string program = "sha256sum";
  std::array<char*, 2> arguments{program.data(), nullptr};
  pid_t child = 0;
  const int error = posix_spawnp(&child, program.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0)
    throw ToolError("sha256sum cannot be run (it names the data in a recorded run; install coreutils)");
  writing = Descriptor();

  std::string digits;
  std::array<char, kSha256Digits> buffer{};
  for (ssize_t count = 0; (count = read(reading.number(), buffer.data(), buffer.size())) > 0;)
    digits.append(buffer.data(), static_cast<std::size_t>(count));
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0 || digits.size() < kSha256Digits) throw ToolError("sha256sum failed on the data");
  return digits.substr(0, kSha256Digits);
}

}  // namespace

Json begin_recorded_run(const std::string& device, const std::string& command_line) {
  return {{"schema", 1},
          {"commit", kBuildCommit},
          {"date", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))},
          {"device", device},
          {"command", command_line},
          {"kernels", kBuildKernels},
          {"files", Json::array()},
          {"rows", Json::array()}};
}

Json describe_data(const std::string& name, std::span<const std::byte> data) {
  return {{"name", name}, {"bytes", data.size()}, {"sha256", sha256(data)}};
}

std::string processor_name() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  std::string line, name = "unknown processor";
  while (std::getline(cpuinfo, line))
    if (const std::size_t colon = line.find(": ");
        colon != std::string::npos && line.starts_with("model name")) {
      name = line.substr(colon + 2);
      break;
    }
  return fmt::format("{}, {} threads", name, std::thread::hardware_concurrency());
}

}  // namespace hemstitch::cli
