// Many small files: how long it takes to load them to a device, and to compress and restore a tree of them
// with -r.
//
//   files_device_bench [--backend NAME]      NAME: cuda unless given
//
// The trees have text files of 11 KB, 100 in a folder or all in one, in memory (/dev/shm) if possible. Each
// figure is the best of the runs named. The tool's commands run in this process, so the device is started and
// memory is pinned before the runs that count. Rows:
//
//   start    two files, before all else in this process: the device is started; and again
//   load     load_files() of 10,000 files, to the host and to the device, the first time and again
//   files    hemstitch -r over 100,000 files, then -d -r over its output; and 1000 of them named one by one,
//            which are compressed one by one
//   floor    for both directions, how long 16 threads take to read the inputs, to create outputs of the same
//            sizes, or both: open, fstat, read, close; open, write, close
//
// Prints each row of a recorded run on a line.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "cli/commands.hpp"
#include "hemstitch/files.hpp"

namespace hemstitch {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kThreads = 16;
constexpr std::size_t kFileBytes = 11'000;
constexpr int kRuns = 3;

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Calls work(i) for every i below `count` on kThreads threads. Returns seconds.
double on_threads(std::size_t count, const std::function<void(std::size_t)>& work) {
  constexpr std::size_t kGrain = 16;
  std::atomic<std::size_t> next = 0;
  return seconds_of([&] {
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < kThreads; ++t)
      threads.emplace_back([&] {
        for (std::size_t begin; (begin = next.fetch_add(kGrain)) < count;)
          for (std::size_t i = begin; i < std::min(count, begin + kGrain); ++i) work(i);
      });
    for (std::thread& thread : threads) thread.join();
  });
}

void must(bool done, const std::string& what) {
  if (!done) throw std::runtime_error(what + " failed");
}

void write_new(const std::string& path, const char* bytes, std::size_t count) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  must(file >= 0 && write(file, bytes, count) == static_cast<ssize_t>(count), path);
  close(file);
}

void read_whole(const std::string& path, std::vector<char>& room) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status {};
  must(file >= 0 && fstat(file, &status) == 0, path);
  room.resize(static_cast<std::size_t>(status.st_size) + 1);
  must(read(file, room.data(), room.size()) == status.st_size, path);
  close(file);
}

struct Tree {
  std::string root;
  std::string name;
  std::vector<std::string> paths;
};

// The same words again and again, in a different order in every file.
Tree make_tree(const std::string& root, std::size_t files, std::size_t files_in_folder) {
  Tree tree{
      root, files_in_folder >= files ? "in one folder" : fmt::format("{} in a folder", files_in_folder), {}};
  for (std::size_t i = 0; i < files; ++i) {
    const std::string folder = fmt::format("{}/{}", root, i / files_in_folder);
    if (i % files_in_folder == 0) fs::create_directories(folder);
    tree.paths.push_back(fmt::format("{}/{}", folder, i));
  }
  on_threads(files, [&](std::size_t i) {
    static const char* const words[] = {"stitch",  "seam", "hem", "thread", "needle", "cloth",
                                        "pattern", "the",  "of",  "and",    "to",     "0x1f",
                                        "};\n",    "==",   "\t",  "return"};
    std::uint64_t state = i * 2 + 1;
    std::string content;
    while (content.size() < kFileBytes) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      content += words[state >> 60];
      content += static_cast<char>(' ' + (state >> 40) % 48);
    }
    write_new(tree.paths[i], content.data(), kFileBytes);
  });
  return tree;
}

void print_row(const std::string& what, const std::string& backend, const std::string& file,
               std::size_t items, std::size_t bytes, double seconds, const std::string& more = "") {
  fmt::print(
      "{{\"what\":\"{}\",\"backend\":\"{}\",\"file\":\"{}\",\"items\":{},\"bytes\":{},\"seconds\":{:.4f},"
      "\"gbps\":{:.3f},"
      "\"threads\":{},\"span\":\"file\"{},\"verified\":true}}\n",
      what, backend, file, items, bytes, seconds, static_cast<double>(bytes) / seconds / 1e9, kThreads, more);
  std::fflush(stdout);
}

void load(const Tree& tree, bool to_device) {
  LoadOptions options;
  options.to_device = to_device;
  options.threads = kThreads;
  for (int run = 0; run < 4; ++run) {
    std::vector<std::string> paths = tree.paths;
    std::size_t bytes = 0;
    const double seconds = seconds_of([&] { bytes = load_files(std::move(paths), options).bytes().size(); });
    must(bytes == tree.paths.size() * kFileBytes, "loading");
    print_row(run == 0 ? "load, the first time" : "load, again", to_device ? "cuda" : "cpu", tree.name,
              tree.paths.size(), bytes, seconds);
  }
}

double run_tool(const std::vector<std::string>& words) {
  return seconds_of([&] { must(cli::run_files(words) == 0, "the command"); });
}

// How long kThreads threads take to read the inputs, to create outputs of these sizes beside them, and to do
// both; the best of three runs.
struct Floor {
  double read = 1e9, create = 1e9, both = 1e9;
};
Floor floor_of(const std::vector<std::string>& inputs, const std::vector<std::size_t>& output_bytes) {
  const std::vector<char> content(*std::max_element(output_bytes.begin(), output_bytes.end()), 'x');
  const auto read_one = [&](std::size_t i) {
    static thread_local std::vector<char> room;
    read_whole(inputs[i], room);
  };
  const auto create_one = [&](std::size_t i) {
    write_new(inputs[i] + ".x", content.data(), output_bytes[i]);
  };
  const auto remove_all = [&] {
    on_threads(inputs.size(), [&](std::size_t i) { unlink((inputs[i] + ".x").c_str()); });
  };
  Floor floor;
  for (int run = 0; run < kRuns; ++run) {
    floor.read = std::min(floor.read, on_threads(inputs.size(), read_one));
    floor.create = std::min(floor.create, on_threads(inputs.size(), create_one));
    remove_all();
    floor.both = std::min(floor.both, on_threads(inputs.size(), [&](std::size_t i) {
                            read_one(i);
                            create_one(i);
                          }));
    remove_all();
  }
  return floor;
}

// Prints one direction with its floor. `content_bytes` is the uncompressed size of the files.
void print_way(const std::string& way, const std::string& backend, const Tree& tree,
               std::size_t content_bytes, double seconds, const Floor& floor, const std::string& more) {
  const std::size_t count = tree.paths.size();
  print_row(way + ", floor: read", "cpu", tree.name, count, content_bytes, floor.read);
  print_row(way + ", floor: create", "cpu", tree.name, count, content_bytes, floor.create);
  print_row(way + ", floor: read and create", "cpu", tree.name, count, content_bytes, floor.both);
  print_row("files: " + way, backend, tree.name, count, content_bytes, seconds,
            fmt::format("{},\"peer\":\"floor: read and create\",\"peer_gbps\":{:.3f}", more,
                        static_cast<double>(content_bytes) / floor.both / 1e9));
}

void files(const Tree& tree, const std::string& backend) {
  const std::size_t count = tree.paths.size(), bytes = count * kFileBytes;
  std::vector<std::string> compressed;
  for (const std::string& path : tree.paths) compressed.push_back(path + ".lz4");
  const auto remove_outputs = [&] {
    on_threads(count, [&](std::size_t i) { unlink(compressed[i].c_str()); });
  };
  double compress = 1e9;
  for (int run = 0; run < kRuns; ++run) {
    remove_outputs();
    compress = std::min(
        compress, run_tool({"-r", "-q", "-T", std::to_string(kThreads), "--backend", backend, tree.root}));
  }
  constexpr std::size_t kAlone = 1000;
  std::vector<std::string> words = {"-q", "-f", "--backend", backend};
  words.insert(words.end(), tree.paths.begin(), tree.paths.begin() + kAlone);
  print_row("files: one by one", backend, tree.name, kAlone, kAlone * kFileBytes, run_tool(words));

  std::vector<std::size_t> sizes(count);
  std::size_t output_bytes = 0;
  for (std::size_t i = 0; i < count; ++i)
    output_bytes += sizes[i] = static_cast<std::size_t>(fs::file_size(compressed[i]));
  print_way("compress", backend, tree, bytes, compress, floor_of(tree.paths, sizes),
            fmt::format(",\"ratio\":{:.3f}", static_cast<double>(bytes) / static_cast<double>(output_bytes)));

  // The inputs are moved elsewhere meanwhile: when users restore, the folders have only compressed files.
  const std::string elsewhere = tree.root + ".was";
  fs::create_directory(elsewhere);
  const auto was = [&](std::size_t i) { return fmt::format("{}/{}", elsewhere, i); };
  double restore = 1e9;
  for (int run = 0; run < kRuns; ++run) {
    on_threads(count,
               [&](std::size_t i) { must(rename(tree.paths[i].c_str(), was(i).c_str()) == 0, "renaming"); });
    restore = std::min(restore, run_tool({"-d", "-r", "-q", "-T", std::to_string(kThreads), "--backend",
                                          backend, tree.root}));
    on_threads(count, [&](std::size_t i) {
      static thread_local std::vector<char> before, now;
      read_whole(was(i), before);
      read_whole(tree.paths[i], now);
      must(before.size() == now.size() && std::equal(before.begin(), before.end() - 1, now.begin()),
           "comparing");
      unlink(was(i).c_str());
    });
  }
  fs::remove(elsewhere);
  print_way("restore", backend, tree, bytes, restore,
            floor_of(compressed, std::vector<std::size_t>(count, kFileBytes)), "");
  remove_outputs();
}

int bench(const std::string& folder, const std::string& backend) {
  // The cost of starting the device and pinning memory, once in a process; then the same work without it.
  const Tree small = make_tree(folder + "/first", 2, 2);
  for (const char* const what : {"start: the first two files", "start: two files again"}) {
    print_row(what, backend, small.name, 2, 2 * kFileBytes,
              run_tool({"-r", "-q", "-f", "--backend", backend, small.root}));
  }
  fs::remove_all(small.root);
  {
    const Tree tree = make_tree(folder + "/load", 10'000, 100);
    load(tree, false);
    if (backend == "cuda") load(tree, true);
    fs::remove_all(tree.root);
  }
  for (const std::size_t files_in_folder : {100u, 100'000u}) {
    const Tree tree = make_tree(folder + "/tree", 100'000, files_in_folder);
    files(tree, backend);
    fs::remove_all(tree.root);
  }
  return 0;
}

}  // namespace
}  // namespace hemstitch

int main(int argument_count, char** arguments) {
  const bool named = argument_count == 3 && std::string(arguments[1]) == "--backend";
  namespace fs = std::filesystem;
  const fs::path memory = "/dev/shm";
  std::string folder =
      ((access(memory.c_str(), W_OK) == 0 ? memory : fs::temp_directory_path()) / "hemstitch-XXXXXX")
          .string();
  if (mkdtemp(folder.data()) == nullptr) {
    std::perror(folder.c_str());
    return 1;
  }
  int status = 1;
  try {
    status = hemstitch::bench(folder, named ? arguments[2] : "cuda");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  fs::remove_all(folder);
  return status;
}
