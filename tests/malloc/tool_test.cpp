// The tool when malloc fails: it must report an error with its exit status, leave nothing half written, and
// lose nothing.
#include "cli/tool.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "shapes.hpp"
#include "trials.hpp"

namespace hemstitch::testing {
namespace {

namespace fs = std::filesystem;

using Files = std::map<std::string, std::string>;  // by name, in a folder

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Files files_in(const fs::path& folder) {
  Files files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) files[fs::relative(entry.path(), folder)] = read_file(entry.path());
  return files;
}

void write_files(const fs::path& folder, const Files& files) {
  for (const auto& [name, text] : files) {
    fs::create_directories((folder / name).parent_path());
    std::ofstream(folder / name, std::ios::binary) << text;
  }
}

void redirect(int number, const fs::path& path) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  dup2(file, number);
  close(file);
}

// The words of a command line, as main() gets them.
class Arguments {
 public:
  explicit Arguments(std::vector<std::string> words) : words_(std::move(words)) {
    words_.insert(words_.begin(), "hemstitch");
    for (std::string& word : words_) pointers_.push_back(word.data());
    pointers_.push_back(nullptr);
  }
  int run() { return cli::run_tool(static_cast<int>(words_.size()), pointers_.data()); }
  const std::string& command() const { return words_[1]; }

 private:
  std::vector<std::string> words_;
  std::vector<char*> pointers_;
};

class MallocTool : public ::testing::Test {
 protected:
  MallocTool() {
    std::string name = (fs::temp_directory_path() / "hemstitch-malloc-XXXXXX").string();
    root_ = mkdtemp(name.data());
  }
  ~MallocTool() override { fs::remove_all(root_); }

  // The files that a command makes of others, and keeps.
  Files made_by(const std::vector<std::string>& words, const Files& inputs) {
    EXPECT_EQ(run(words, inputs, 0, Failing::kOne).status, 0) << read_file(root_ / "stderr");
    return files_in(root_ / "here");
  }

  Ended run(const std::vector<std::string>& words, const Files& inputs, long n, Failing failing) {
    Arguments arguments(words);
    return try_once(
        n, failing, [&](Failing) { enter(inputs); }, [&] { return arguments.run(); });
  }

  // Whatever allocation fails, the command must make the right files of the inputs, or report an error. Every
  // file that is there must have the content that it has after a run without failures.
  void try_command(const std::vector<std::string>& words, const Files& inputs,
                   long arguments_step = kArgumentsStep) {
    const Ended whole = run(words, inputs, 0, Failing::kOne);
    ASSERT_EQ(whole.status, 0) << whole.text() << ": " << read_file(root_ / "stderr");
    const Files outputs = files_in(root_ / "here");
    const std::string printed = read_file(root_ / "stdout");
    Files all = inputs;  // the files that may be there
    all.insert(outputs.begin(), outputs.end());

    Arguments arguments(words);
    const bool searching = arguments.command() == "search";
    const auto judge = [&](const Ended& ended, bool may_have_failed) {
      const std::string messages = read_file(root_ / "stderr");
      const Files seen = files_in(root_ / "here");
      for (const auto& [name, text] : seen) {
        ASSERT_TRUE(all.contains(name)) << name << " was left; " << messages;
        ASSERT_TRUE(all.at(name) == text) << name << " has another content; " << messages;
      }
      // A source may be removed only if its output is there.
      for (const auto& [name, text] : inputs)
        ASSERT_TRUE(seen.contains(name) || seen.contains(name + ".lz4")) << name << " is lost; " << messages;
      const bool warned = ended.status == 2 && !searching;
      if (ended.status == 0 || warned) {
        ASSERT_EQ(seen, outputs) << messages;
        ASSERT_EQ(read_file(root_ / "stdout"), printed);
      } else {
        ASSERT_EQ(ended.status, searching ? 2 : 1) << messages;
      }
      if (ended.status != 0) {
        ASSERT_TRUE(may_have_failed) << ended.text() << ": " << messages;
        ASSERT_TRUE(messages.starts_with("hemstitch: ")) << messages;
      }
    };
    const long arguments_count = searching ? allocations_of_starting_a_search() : allocations_of_arguments();
    try_every_allocation(
        [&](Failing failing) {
          enter(inputs);
          if (failing == Failing::kRest) start_tbb();
        },
        [&] { return arguments.run(); }, judge, arguments_count, arguments_step);
  }

  long allocations_of_arguments() { return run({"-V"}, {}, 0, Failing::kOne).allocations; }
  long allocations_of_starting_a_search() {
    return run({"search", "-l", "words", "empty"}, {{"empty", ""}}, 0, Failing::kOne).allocations;
  }

 private:
  // Reading the arguments makes the most allocations, and the same ones in all commands but search. So one
  // test tries all of them, and another those of a search in nothing; the rest try only some.
  static constexpr long kArgumentsStep = 37;

  // Makes a folder with only the inputs; the standard streams are files beside it.
  void enter(const Files& inputs) const {
    fs::remove_all(root_ / "here");
    fs::create_directory(root_ / "here");
    write_files(root_ / "here", inputs);
    redirect(STDOUT_FILENO, root_ / "stdout");
    redirect(STDERR_FILENO, root_ / "stderr");
    fs::current_path(root_ / "here");
  }

  fs::path root_;
};

// Two batches for two threads.
Files one_file() {
  const Bytes bytes = wordy_bytes(300'000);
  return {{"a", {reinterpret_cast<const char*>(bytes.data()), bytes.size()}}};
}

Files folder() {
  return {{"d/1", "some words\n"},
          {"d/2", "and others\n"},
          {"d/e/3", "words again\n"},
          {"d/e/f/4", "the last words\n"}};
}

TEST_F(MallocTool, ReadsArguments) { try_command({"-V"}, {}, 1); }

TEST_F(MallocTool, Compresses) { try_command({"-T2", "--check=content", "a"}, one_file()); }

TEST_F(MallocTool, CompressesAndRemoves) { try_command({"-T2", "--rm", "a"}, one_file()); }

TEST_F(MallocTool, Restores) {
  Files made = made_by({"-q", "--check=content", "a"}, one_file());
  made.erase("a");
  try_command({"-d", "-T2", "a.lz4"}, made);
  try_command({"-d", "-T2", "-c", "a.lz4"}, made);
}

TEST_F(MallocTool, MakesAnIndex) {
  Files made = made_by({"-q", "--format", "gzip", "a"}, one_file());
  made.erase("a");
  try_command({"index", "-q", "a.gz"}, made);
}

TEST_F(MallocTool, Lists) {
  for (const char* option : {"-v", "--json"})
    try_command({"-l", option, "a.lz4"}, made_by({"-q", "a"}, one_file()));
}

TEST_F(MallocTool, CompressesAFolder) { try_command({"-r", "-T2", "d"}, folder()); }

TEST_F(MallocTool, CompressesAFolderAndRemoves) { try_command({"-r", "--rm", "-T2", "d"}, folder()); }

TEST_F(MallocTool, RestoresAFolder) {
  Files made = made_by({"-q", "-r", "d"}, folder());
  for (const auto& [name, text] : folder()) made.erase(name);
  try_command({"-d", "-r", "-T2", "d"}, made);
}

TEST_F(MallocTool, ReadsArgumentsOfASearch) { try_command({"search", "-n", "words", "d/1"}, folder(), 1); }

TEST_F(MallocTool, Searches) {
  for (const char* option : {"-n", "-c", "-l", "--json"})
    try_command({"search", "-T2", "-r", option, "words", "d"}, folder());
  Files large = folder();
  std::string& text = large["large"];
  while (text.size() < 300'000) text += "nothing to find in here\n";
  text += "last words\n";
  try_command({"search", "-T2", "-n", "words", "large", "d/1"}, large);
}

TEST_F(MallocTool, SearchesCompressedFiles) {
  Files inputs = made_by({"-q", "-r", "d"}, folder());
  try_command({"search", "-T2", "-rz", "words", "d"}, inputs);
}

// Pieces, reports that wait for their turn, and a line that waits for it.
TEST_F(MallocTool, SearchesInLittleMemory) {
  Files large = folder();
  std::string& text = large["d/large"];
  while (text.size() < 400'000) text += "words to be found in here\n";
  large["d/long"] = "words " + std::string(300'000, 'x') + "\n";
  try_command(
      {"search", "-T2", "--memory", "2M", "-r", "--color=always", "-C1", "-w", "--include=*", "words", "d"},
      large);
}

}  // namespace
}  // namespace hemstitch::testing
