// The cost of searching texts through WebGPU: some of the questions of bench/device/search_bench.cpp.
//
//   search_webgpu_bench FOLDER
//
// FOLDER has silesia/, whose files are searched together. Times are the device's: counting, placing and
// writing all matches; the median of five calls after one to warm up. `seconds_with_transfers` is the same by
// the host's clock, from texts in host memory to matches in host memory. Prints each row of a recorded run on
// a line, verified against the CPU's matches.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/status.hpp"
#include "gpu/device_names.hpp"
#include "gpu/webgpu/devices.hpp"
#include "search/search_webgpu.hpp"
#include "shapes.hpp"

namespace hemstitch {
namespace {

using namespace webgpu;
using Clock = std::chrono::steady_clock;

constexpr int kCalls = 5;
// The size of texts, like files of a tree, as in search_bench.cpp.
constexpr std::uint64_t kTextBytes = 16'700;

struct Question {
  const char* name;
  std::vector<std::string> patterns;
  bool ignore_case;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void ask(const std::shared_ptr<Device>& device, const std::string& texts,
         const std::vector<std::uint64_t>& offsets, const Question& question) {
  const PatternSet patterns(question.patterns, question.ignore_case);
  TextSearch search(device, patterns);
  std::vector<PackedMatch> found;
  std::vector<double> on_device, on_host;
  std::map<std::string, std::vector<double>> steps;
  for (int call = 0; call <= kCalls; ++call) {
    std::vector<StepTime> times;
    found = search.find(texts, offsets, &times);
    const auto begin = Clock::now();
    search.find(texts, offsets);
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    if (call == 0) continue;
    on_host.push_back(seconds);
    double sum = 0;
    std::map<std::string, double> sums;
    for (const StepTime& time : times) {
      sum += time.seconds.value_or(0);
      sums[time.name] += time.seconds.value_or(0);
    }
    on_device.push_back(sum);
    for (const auto& [name, of_step] : sums) steps[name].push_back(of_step);
  }
  for (const auto& [name, seconds_of] : steps)
    fmt::print(stderr, "{}: {:.3f} ms {}\n", question.name, 1e3 * median(seconds_of), name);

  const std::vector<SearchMatch> expected = find_in_texts(texts, offsets, patterns);
  const bool verified = std::equal(found.begin(), found.end(), expected.begin(), expected.end(),
                                   [](const PackedMatch& one, const SearchMatch& other) {
                                     return one.position() == other.position && one.bytes() == other.bytes;
                                   });
  const double seconds = median(on_device);
  fmt::print("{}\n", nlohmann::ordered_json{{"what", "search"},
                                            {"backend", "webgpu"},
                                            {"file", question.name},
                                            {"bytes", texts.size()},
                                            {"matches", found.size()},
                                            {"seconds", seconds},
                                            {"gbps", 1e-9 * static_cast<double>(texts.size()) / seconds},
                                            {"span", "kernel"},
                                            {"verified", verified},
                                            {"seconds_with_transfers", median(on_host)}}
                         .dump());
  std::fflush(stdout);
}

int run(const std::filesystem::path& folder) {
  const std::shared_ptr<Device> device = open_device(wanted_device({}));
  fmt::print(stderr, "{}\n", device->adapter().name);
  if (!device->has_timestamps()) {
    fmt::print(stderr, "search_webgpu_bench: {} has no timestamps\n", device->adapter().name);
    return 1;
  }
  std::string texts;
  for (const char* name : {"dickens", "mr", "nci", "ooffice", "osdb", "reymont", "samba", "x-ray", "xml"}) {
    const testing::Bytes file = testing::read_file(folder / "silesia" / name);
    texts.append(reinterpret_cast<const char*>(file.data()), file.size());
    // Less is enough for a software driver.
    if (device->adapter().kind == AdapterKind::kSoftware) {
      texts.resize(1'000'000);
      break;
    }
  }
  std::vector<std::uint64_t> offsets;
  for (std::uint64_t at = 0; at < texts.size(); at += kTextBytes) offsets.push_back(at);
  offsets.push_back(texts.size());
  const std::vector<Question> questions = {
      {"rare: Copperfield", {"Copperfield"}, false},
      {"rare: Copperfield, any case", {"Copperfield"}, true},
      {"common: the", {"the"}, false},
      {"common: which", {"which"}, false},
      {"rare, 4 patterns", {"Copperfield", "Micawber", "Peggotty", "Uriah Heep"}, false},
      {"common, 4 patterns", {"the", "which", "and", "because"}, false},
  };
  for (const Question& question : questions) ask(device, texts, offsets, question);
  return 0;
}

}  // namespace
}  // namespace hemstitch

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "search_webgpu_bench FOLDER\n");
    return 2;
  }
  try {
    return hemstitch::run(argv[1]);
  } catch (const std::exception& error) {
    fmt::print(stderr, "search_webgpu_bench: {}\n", error.what());
    return 1;
  }
}
