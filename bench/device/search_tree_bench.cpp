// How long the tool's search takes from start to end, on a tree of small files, and on the same tree
// compressed.
//
//   search_tree_device_bench CORPUS [FILES [FOLDER]]
//
// CORPUS has silesia/. In FOLDER, a new one in /dev/shm (so that the tool is measured, not a disk), a tree of
// FILES (60,000) files of 16.7 KB is made from it, then one with the same files as .lz4; both are removed at
// the end. The tool is `hemstitch` beside this program. Each figure is the median of five runs, with the
// output discarded, on the processor and on CUDA. The time to start a device is that of a search in one file,
// stated in its rows (start_seconds). The peers, in the same run: 16 threads that open and read all files and
// do nothing with them; grep in 16 processes, and rg. For compressed files: the faster of lz4 and grep (a
// pair for each file, in 16 processes) and rg -z, each on every tenth file, with its time multiplied by ten.
// Missing peers are left out; they are also looked for beside this program. Prints each row of a recorded run
// on a line. A row is verified if the tool counts as many lines as the library finds in the corpus.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>

#include "hemstitch/hemstitch.hpp"
#include "search/line_search.hpp"
#include "shapes.hpp"

namespace hemstitch {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kFileBytes = 16'700;
constexpr std::size_t kFilesPerFolder = 500;
constexpr int kRuns = 5;
constexpr std::size_t kPeerSample = 10;
constexpr unsigned kThreads = 16;

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median_seconds(int runs, const std::function<void()>& work) {
  std::vector<double> seconds;
  for (int run = 0; run < runs; ++run) seconds.push_back(seconds_of(work));
  std::nth_element(seconds.begin(), seconds.begin() + runs / 2, seconds.end());
  return seconds[static_cast<std::size_t>(runs / 2)];
}

// Runs a command in a shell. Throws unless its exit status is 0.
void run(const std::string& command) {
  if (std::system(command.c_str()) != 0) throw std::runtime_error("failed: " + command);
}

std::string output_of(const std::string& command) {
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("popen");
  std::string output;
  char part[4096];
  for (std::size_t got; (got = std::fread(part, 1, sizeof part, pipe)) != 0;) output.append(part, got);
  pclose(pipe);
  return output;
}

class Tree {
 public:
  Tree(const fs::path& folder, const std::string& corpus, std::size_t count, bool compressed)
      : folder_(folder), corpus_(corpus) {
    for (std::size_t i = 0; i < count; ++i) {
      if (i % kFilesPerFolder == 0) fs::create_directories(folder / std::to_string(i / kFilesPerFolder));
      paths_.push_back(folder / std::to_string(i / kFilesPerFolder) / (std::to_string(i) + ".txt"));
      if (compressed) paths_.back() += ".lz4";
    }
    tbb::parallel_for(std::size_t{0}, count, [&](std::size_t i) {
      const std::string_view text = content(i);
      std::vector<std::byte> packed;
      std::span<const std::byte> bytes = std::as_bytes(std::span(text));
      if (compressed) {
        CompressOptions options;
        options.threads = 1;
        packed = compress(bytes, options);
        bytes = packed;
      }
      std::ofstream(paths_[i], std::ios::binary)
          .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    });
  }
  ~Tree() { fs::remove_all(folder_); }
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  const fs::path& folder() const { return folder_; }
  const std::vector<fs::path>& paths() const { return paths_; }
  std::string_view content(std::size_t file) const {
    const std::size_t begin = file * kFileBytes % (corpus_.size() - kFileBytes);
    return std::string_view(corpus_).substr(begin, kFileBytes);
  }

  // Opens and reads the files on 16 threads, and does nothing with them.
  void read_all() const {
    const tbb::global_control threads(tbb::global_control::max_allowed_parallelism, kThreads);
    std::atomic<std::uint64_t> bytes = 0;
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, paths_.size(), 64), [&](const auto& range) {
      std::vector<char> buffer(2 * kFileBytes);
      std::uint64_t own = 0;
      for (std::size_t i = range.begin(); i < range.end(); ++i) {
        const int file = open(paths_[i].c_str(), O_RDONLY);
        for (ssize_t got; (got = read(file, buffer.data(), buffer.size())) > 0;)
          own += static_cast<std::uint64_t>(got);
        close(file);
      }
      bytes += own;
    });
    if (bytes == 0) throw std::runtime_error("nothing read");
  }

 private:
  fs::path folder_;
  const std::string& corpus_;
  std::vector<fs::path> paths_;
};

struct NoListener : LineListener {
  void line(const FoundLine&) override {}
  void too_long(std::uint64_t) override {}
  void too_many_before(std::uint64_t) override {}
};

std::uint64_t lines_with(const Tree& tree, const PatternSet& patterns) {
  std::atomic<std::uint64_t> lines = 0;
  tbb::parallel_for(std::size_t{0}, tree.paths().size(), [&](std::size_t i) {
    const LineSelection selection{.wanted = LineSelection::Wanted::kCount};
    NoListener listener;
    LineSearcher searcher(selection, &patterns, false, listener);
    searcher.take_whole(tree.content(i), MatchCursor(tree.content(i), &patterns));
    lines += searcher.count();
  });
  return lines;
}

// The sum of the counts in the output of -c.
std::uint64_t counted(const std::string& output) {
  std::uint64_t sum = 0;
  for (std::size_t begin = 0; begin < output.size();) {
    const std::size_t end = output.find('\n', begin), colon = output.rfind(':', end);
    sum += std::stoull(output.substr(colon + 1, end - colon - 1));
    begin = end + 1;
  }
  return sum;
}

struct Peer {
  std::string name;
  double seconds;
};

struct Backend {
  std::string name;
  double start_seconds;
};

nlohmann::ordered_json row_of(const std::string& what, const std::string& backend, const std::string& file,
                              std::size_t items, double seconds, bool verified) {
  const std::uint64_t bytes = items * kFileBytes;
  return {{"what", what},
          {"backend", backend},
          {"file", file},
          {"items", items},
          {"bytes", bytes},
          {"seconds", seconds},
          {"gbps", static_cast<double>(bytes) / seconds / 1e9},
          {"span", "file"},
          {"verified", verified}};
}

void print(const nlohmann::ordered_json& row) {
  std::printf("%s\n", row.dump().c_str());
  std::fflush(stdout);
}

// Searches for lines and for names of files, with a rare pattern and a common one, and compares with the
// peer.
void measure(const std::string& tool, const Tree& tree, const std::string& what, const std::string& flags,
             const std::vector<Backend>& backends, const std::optional<Peer>& peer) {
  const std::size_t items = tree.paths().size();
  for (const auto& [kind, pattern] : {std::pair{"rare", "Copperfield"}, {"common", "the"}}) {
    const std::uint64_t expected = lines_with(tree, PatternSet({pattern}, false));
    for (const Backend& one : backends) {
      const std::string& backend = one.name;
      const auto command = [&](const std::string& options) {
        return fmt::format("{} search --backend {} -r {} {} {} {} 2> /dev/null", tool, backend, flags,
                           options, pattern, tree.folder().string());
      };
      const bool verified = counted(output_of(command("-c"))) == expected;
      const auto measure_mode = [&](const std::string& name, const std::string& options) {
        auto row = row_of("search", backend, fmt::format("{}, {}{}", what, kind, name), items,
                          median_seconds(kRuns, [&] { run(command(options) + " > /dev/null"); }), verified);
        row["lines"] = expected;
        row["start_seconds"] = one.start_seconds;
        if (peer) {
          row["peer"] = peer->name;
          row["peer_gbps"] = static_cast<double>(items * kFileBytes) / peer->seconds / 1e9;
        }
        print(row);
      };
      measure_mode("", "");
      if (expected < items) measure_mode(", names", "-l");
    }
  }
}

bool is_there(const std::string& program) {
  return std::system(("command -v " + program + " > /dev/null").c_str()) == 0;
}

int bench_trees(const std::string& tool, const fs::path& corpus_folder, const fs::path& folder,
                std::size_t count) {
  std::string corpus;
  for (const char* name : {"dickens", "mr", "nci", "ooffice", "osdb", "reymont", "samba", "x-ray", "xml"}) {
    const testing::Bytes file = testing::read_file(corpus_folder / "silesia" / name);
    corpus.append(reinterpret_cast<const char*>(file.data()), file.size());
  }
  fs::create_directories(folder);
  const fs::path one = folder / "one";
  std::ofstream(one) << "one\n";
  std::vector<Backend> backends;
  for (const char* backend : {"cpu", "cuda"}) {
    const std::string command =
        fmt::format("{} search --backend {} one {} > /dev/null 2>&1", tool, backend, one.string());
    if (std::system(command.c_str()) != 0) continue;
    backends.push_back({backend, median_seconds(kRuns, [&] { run(command); })});
    print({{"what", "search"},
           {"backend", backend},
           {"file", "one line"},
           {"seconds", backends.back().start_seconds},
           {"span", "file"},
           {"verified", true}});
  }
  {
    const Tree tree(folder / "tree", corpus, count, false);
    const double reading = median_seconds(kRuns, [&] { tree.read_all(); });
    print(row_of("read", "", "tree, by 16 threads", count, reading, true));
    const auto measure_peer = [&](const std::string& program, const std::string& name,
                                  const std::string& command) {
      if (!is_there(program)) return;
      const double seconds = median_seconds(kRuns, [&] { run(command); });
      print(row_of("search", "", "tree, rare, " + name, count, seconds, true));
    };
    measure_peer("grep", "grep in 16 processes",
                 fmt::format("find {} -type f -print0 | xargs -0 -P {} -n 500 sh -c 'grep -F Copperfield "
                             "\"$@\" > /dev/null; true' sh",
                             tree.folder().string(), kThreads));
    measure_peer("rg", "rg -F",
                 fmt::format("rg -uu -j {} -F Copperfield {} > /dev/null", kThreads, tree.folder().string()));
    measure(tool, tree, "tree", "", backends, Peer{"reading by 16 threads", reading});
  }
  const Tree packed(folder / "packed", corpus, count, true);
  const double reading = median_seconds(kRuns, [&] { packed.read_all(); });
  print(row_of("read", "", "compressed tree, by 16 threads", count, reading, true));
  const fs::path list = folder / "list";
  {
    std::ofstream sample(list);
    for (std::size_t i = 0; i < count; i += kPeerSample) sample << packed.paths()[i].string() << '\n';
  }
  std::optional<Peer> peer;
  const auto measure_peer = [&](const std::string& program, const std::string& name,
                                const std::string& command) {
    if (!is_there(program) || !is_there("lz4")) return;
    const double seconds = kPeerSample * seconds_of([&] { run(command); });
    print(row_of("search", "", "compressed tree, rare, " + name, count, seconds, true));
    if (!peer || seconds < peer->seconds) peer = Peer{"the best of others: " + name, seconds};
  };
  measure_peer("grep", "lz4 -dc and grep in 16 processes",
               fmt::format("xargs -P {} -n 60 sh -c 'for file; do lz4 -dc \"$file\" | grep -F Copperfield; "
                           "done > /dev/null; true' sh < {}",
                           kThreads, list.string()));
  measure_peer("rg", "rg -z -F",
               fmt::format("xargs -s 1500000 -n {} rg -z -j {} -F Copperfield < {} > /dev/null", count,
                           kThreads, list.string()));
  measure(tool, packed, "compressed tree", "-z", backends, peer);
  return 0;
}

}  // namespace
}  // namespace hemstitch

int main(int argc, char** argv) {
  if (argc < 2 || argc > 4) {
    std::fprintf(stderr, "search_tree_device_bench CORPUS [FILES [FOLDER]]\n");
    return 2;
  }
  namespace fs = std::filesystem;
  try {
    const fs::path own = fs::canonical("/proc/self/exe").parent_path();
    setenv("PATH", fmt::format("{}:{}", std::getenv("PATH"), own.string()).c_str(), 1);
    const fs::path folder =
        argc > 3 ? fs::path(argv[3]) : fs::path(fmt::format("/dev/shm/hemstitch-search-{}", getpid()));
    const int status = hemstitch::bench_trees((own / "hemstitch").string(), argv[1], folder,
                                              argc > 2 ? std::stoul(argv[2]) : 60'000);
    fs::remove_all(folder);
    return status;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
