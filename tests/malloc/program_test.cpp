// The program itself when malloc fails, from the very first allocation on: those before main(), which
// tool_test.cpp does not see, belong to global objects and libraries.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace hemstitch::testing {
namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class MallocProgram : public ::testing::Test {
 protected:
  MallocProgram() {
    std::string name = (fs::temp_directory_path() / "hemstitch-program-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    std::ofstream(file("words")) << "some words, some words, some words\n";
  }
  ~MallocProgram() override { fs::remove_all(folder_); }

  fs::path file(const char* name) const { return folder_ / name; }

  // Compresses a small file to stdout; returns what waitpid() tells.
  int run(long fail_at) {
    const pid_t child = fork();
    if (child == 0) {
      const rlimit no_core{0, 0};
      setrlimit(RLIMIT_CORE, &no_core);
      alarm(30);
      for (const auto& [number, name] : {std::pair{STDOUT_FILENO, "stdout"}, {STDERR_FILENO, "stderr"}})
        dup2(open(file(name).c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), number);
      setenv("LD_PRELOAD", HEMSTITCH_PRELOADED_MALLOC, 1);
      setenv("HEMSTITCH_FAIL_AT", std::to_string(fail_at).c_str(), 1);
      setenv("HEMSTITCH_COUNT_ALLOCATIONS", file("count").c_str(), 1);
      execl(HEMSTITCH_PROGRAM, "hemstitch", "-T1", "-c", file("words").c_str(), nullptr);
      _exit(126);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) ADD_FAILURE() << "no process";
    return status;
  }

 private:
  fs::path folder_;
};

TEST_F(MallocProgram, ReportsThatAnyAllocationFailed) {
  ASSERT_EQ(run(0), 0) << read_file(file("stderr"));
  const std::string printed = read_file(file("stdout"));
  const long count = std::stol(read_file(file("count")));
  ASSERT_GT(count, 10);
  for (long n = 1; n <= count; ++n) {
    const int status = run(n);
    const std::string messages = read_file(file("stderr"));
    ASSERT_TRUE(WIFEXITED(status)) << "allocation " << n << ": signal " << WTERMSIG(status) << "; "
                                   << messages;
    if (WEXITSTATUS(status) == 0)
      ASSERT_EQ(read_file(file("stdout")), printed) << "allocation " << n;
    else
      ASSERT_TRUE(WEXITSTATUS(status) == 1 && messages.starts_with("hemstitch: "))
          << "allocation " << n << ": exit " << WEXITSTATUS(status) << "; " << messages;
  }
}

}  // namespace
}  // namespace hemstitch::testing
