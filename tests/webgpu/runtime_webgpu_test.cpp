// The runtime: what can be checked without a device, and how a device answers mistakes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "gpu/webgpu/growing_buffer.hpp"
#include "gpu/webgpu/shader_text.hpp"
#include "webgpu_test.hpp"

namespace hemstitch {
namespace {

using namespace webgpu;

class WebgpuRuntime : public testing::WebgpuTest {};

const std::vector<AdapterFacts> kAdapters = {{"llvmpipe", "", AdapterKind::kSoftware},
                                             {"Iris Xe", "", AdapterKind::kIntegrated},
                                             {"GeForce", "", AdapterKind::kDiscrete}};

TEST(WebgpuAdapterChoice, PrefersHardware) {
  EXPECT_EQ(choose_adapter(kAdapters, "").index, 2u);
  EXPECT_EQ(choose_adapter({kAdapters[0], kAdapters[1]}, "").index, 1u);
  EXPECT_EQ(choose_adapter(kAdapters, "0").index, 0u);
  EXPECT_EQ(choose_adapter(kAdapters, "iris").index, 1u);
}

TEST(WebgpuAdapterChoice, SaysWhyThereIsNone) {
  EXPECT_NE(choose_adapter({}, "").reason.find("Vulkan driver"), std::string::npos);
  EXPECT_NE(choose_adapter(kAdapters, "3").reason.find("GeForce (discrete GPU)"), std::string::npos);
  EXPECT_NE(choose_adapter(kAdapters, "radeon").reason.find("no adapter 'radeon'"), std::string::npos);
}

TEST(WebgpuShaderText, ImportsEachFileOnce) {
  const std::string text(shader_text("compact/gather/gather.wgsl"));
  EXPECT_EQ(text.find("#import"), std::string::npos);
  const std::size_t first = text.find("fn workgroup_number");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(text.find("fn workgroup_number", first + 1), std::string::npos);
  EXPECT_THROW(shader_text("no/such.wgsl"), Error);
}

// The comment at the beginning of a shader.
std::string header_of(std::string_view text) {
  std::string header;
  while (text.starts_with("//")) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    header += text.substr(0, end);
    text.remove_prefix(end);
  }
  return header;
}

// Computes numbers and named constants from left to right, without regard to parentheses, as array sizes are
// written.
std::uint64_t size_of(const std::string& expression, const std::map<std::string, std::string>& constants) {
  std::uint64_t value = 1;
  char operation = '*';
  for (std::istringstream words(expression); words;) {
    std::string word;
    if (!(words >> word)) break;
    if (word == "*" || word == "/" || word == "+" || word == "<<") {
      operation = word[0];
      continue;
    }
    while (!word.empty() && (word.front() == '(' || word.back() == ')' || word.back() == 'u'))
      word.front() == '(' ? (void)word.erase(0, 1) : word.pop_back();
    const auto named = constants.find(word);
    const std::uint64_t factor =
        named != constants.end() ? size_of(named->second, constants) : std::stoull(word);
    switch (operation) {
      case '*':
        value *= factor;
        break;
      case '/':
        value /= factor;
        break;
      case '+':
        value += factor;
        break;
      default:
        value <<= factor;
    }
  }
  return value;
}

// The words of each function of a shader, by its name; a call is a word with its parenthesis.
std::map<std::string, std::set<std::string>> functions_of(const std::string& whole) {
  static const std::regex word("\\w+\\(?");
  std::map<std::string, std::set<std::string>> functions;
  for (std::size_t at = whole.find("\nfn "); at != std::string::npos; at = whole.find("\nfn ", at + 1)) {
    const std::string text = whole.substr(at + 4, whole.find("\n}", at) - at - 4);
    std::sregex_iterator words(text.begin(), text.end(), word);
    std::set<std::string>& used = functions[words->str()];
    for (; words != std::sregex_iterator(); ++words) used.insert(words->str());
  }
  return functions;
}

// The words of a function ("name("), and of the functions that it calls.
std::set<std::string> used_by(const std::string& function,
                              const std::map<std::string, std::set<std::string>>& functions) {
  std::set<std::string> used;
  std::vector<std::string> left = {function};
  while (!left.empty()) {
    const std::string word = left.back();
    left.pop_back();
    if (!used.insert(word).second) continue;
    if (const auto called = functions.find(word); called != functions.end())
      left.insert(left.end(), called->second.begin(), called->second.end());
  }
  return used;
}

// What the header says of passes, buffers and workgroup memory must be true, and fit into WebGPU's default
// limits.
TEST(WebgpuShaderText, HeadersSayWhatShadersHave) {
  const auto all_matches = [](const std::string& text, const char* pattern) {
    const std::regex expression(pattern);
    std::vector<std::smatch> matches(std::sregex_iterator(text.begin(), text.end(), expression),
                                     std::sregex_iterator());
    return matches;
  };
  std::size_t checked = 0;
  for (const EmbeddedShader& shader : embedded_shaders()) {
    const std::string whole(shader.text), header = header_of(shader.text);
    const auto entry_points = all_matches(whole, R"(@workgroup_size\(([^)]*)\)\s*fn (\w+))");
    if (entry_points.empty()) continue;
    ++checked;
    for (const char* part : {"// Passes ", "// Buffers ", "// Workgroup "})
      EXPECT_NE(header.find(part), std::string::npos) << shader.path << " has no " << part;
    std::map<std::string, std::string> constants;
    for (const std::smatch& constant : all_matches(whole, R"((?:const|override) (\w+)(?:: u32)? = ([^;]+);)"))
      constants[constant[1]] = constant[2];
    for (const std::smatch& entry_point : entry_points) {
      EXPECT_TRUE(std::regex_search(header, std::regex("\\b" + entry_point[2].str() + "\\b")))
          << shader.path << " does not tell of " << entry_point[2];
      const std::uint64_t threads = size_of(entry_point[1], constants);
      EXPECT_LE(threads, 256u) << shader.path;
      EXPECT_NE(header.find(std::to_string(threads)), std::string::npos)
          << shader.path << ", " << entry_point[2] << ": " << threads << " invocations";
    }
    std::map<std::string, std::uint64_t> arrays;
    for (const std::smatch& array :
         all_matches(whole, R"(var<workgroup> (\w+): array<(?:atomic<)?[ui]32>?, ([^>]+)>)"))
      arrays[array[1]] = 4 * size_of(array[2], constants);
    // The header states sizes of 100 bytes and more, to a tenth of a KB: of all arrays, or of those of each
    // entry point.
    const auto is_told = [&](std::uint64_t bytes) {
      return bytes < 100 ||
             header.find(fmt::format("{:.1f} KB", double(bytes) / 1024)) != std::string::npos ||
             (bytes % 1024 == 0 && header.find(fmt::format("{} KB", bytes / 1024)) != std::string::npos);
    };
    std::uint64_t all_bytes = 0;
    for (const auto& [name, bytes] : arrays) all_bytes += bytes;
    const auto functions = functions_of(whole);
    for (const std::smatch& entry_point : entry_points) {
      std::uint64_t bytes = 0;
      for (const std::string& name : used_by(entry_point[2].str() + "(", functions))
        if (const auto array = arrays.find(name); array != arrays.end()) bytes += array->second;
      EXPECT_LE(bytes, 16384u) << shader.path << ", " << entry_point[2];
      EXPECT_TRUE(is_told(all_bytes) || is_told(bytes)) << shader.path << ", " << entry_point[2] << ": "
                                                        << double(bytes) / 1024 << " KB of workgroup memory";
    }
  }
  EXPECT_GT(checked, 10u);
}

TEST_F(WebgpuRuntime, ATooLargeBufferIsRefusedByName) {
  DeviceOptions options = testing::device_options();
  options.limits = DeviceLimits{.binding_bytes = 4096, .buffer_bytes = 8192};
  Device limited(options);
  BufferPlan plan;
  plan.add("records", 5000);
  try {
    limited.make_buffers(plan);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kInvalidOption);
    EXPECT_NE(std::string(error.what()).find("'records'"), std::string::npos);
  }
  EXPECT_THROW(limited.make_buffer("all", 9000, BufferUse::kStorage), Error);
}

TEST_F(WebgpuRuntime, AGrowingBufferIsKeptUntilMoreIsNeeded) {
  DeviceOptions options = testing::device_options();
  options.limits = DeviceLimits{.binding_bytes = 8192, .buffer_bytes = 8192};
  Device limited(options);
  GrowingBuffer buffer(BufferUse::kUpload);
  EXPECT_EQ(buffer.at_least(4000, limited).bytes(), 4000u);
  const WGPUBuffer kept = buffer.get().get();
  EXPECT_EQ(buffer.at_least(400, limited).get(), kept);
  EXPECT_EQ(buffer.at_least(4004, limited).bytes(), 5000u);
  EXPECT_EQ(buffer.at_least(8000, limited).bytes(), 8000u);
  EXPECT_EQ(buffer.at_least(8004, limited).bytes(), 8192u);  // no more than the device allows
  EXPECT_THROW(buffer.at_least(8196, limited), Error);
  EXPECT_EQ(buffer.at_least(4, limited).bytes(), 16u);  // nothing is kept after an error
}

TEST_F(WebgpuRuntime, AMistakeInACommandBecomesAnErrorAndTheDeviceGoesOn) {
  const Buffer small = device().make_buffer("small", 64, BufferUse::kStorage);
  const Buffer large = device().make_buffer("large", 128, BufferUse::kStorage);
  const Copy too_long{&large, 0, &small, 0, 128};
  try {
    device().submit({&too_long, 1}, {}, {}, {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kDeviceFault);
  }
  const std::vector<std::byte> bytes(60, std::byte{7});
  device().write(small, bytes);
  std::vector<std::byte> back(60);
  device().read(small, back);
  EXPECT_EQ(back, bytes);
}

// One thread makes a mistake in every batch, and must get each error; the others make none, and must get
// none.
TEST_F(WebgpuRuntime, AnErrorIsThatOfTheBatchThatMadeIt) {
  const auto fails = [](const auto& work) {
    try {
      work();
      return false;
    } catch (const Error&) {
      return true;
    }
  };
  const Buffer from = device().make_buffer("from", 128, BufferUse::kStorage);
  const Buffer to = device().make_buffer("to", 64, BufferUse::kStorage);
  const Copy right{&from, 0, &to, 0, 64}, too_long{&from, 0, &to, 0, 128};
  std::atomic<bool> enough = false;
  std::atomic<int> good_failures = 0;
  std::vector<std::thread> good;
  for (int i = 0; i < 2; ++i)
    good.emplace_back([&] {
      while (!enough) good_failures += fails([&] { device().submit({&right, 1}, {}, {}, {}); });
    });
  int bad_failures = 0;
  constexpr int kBatches = 1000;
  for (int i = 0; i < kBatches; ++i) {
    bad_failures += fails([&] { device().submit({&too_long, 1}, {}, {}, {}); });
    bad_failures += fails([&] { device().map_for_reading(from, 64); });  // storage cannot be mapped
  }
  enough = true;
  for (std::thread& thread : good) thread.join();
  EXPECT_EQ(bad_failures, 2 * kBatches);
  EXPECT_EQ(good_failures, 0);
}

// The next batch must be made and mapped while the device works on the one before: no error scope may wait
// for it. (The driver queues: lavapipe takes one submission at a time, and lets the next one wait.)
TEST_F(WebgpuRuntime, TheNextBatchIsMadeWhileOneRuns) {
  if (device().adapter().kind != AdapterKind::kSoftware) GTEST_SKIP() << "hardware copies too fast to tell";
  using Clock = std::chrono::steady_clock;
  constexpr std::uint64_t kBytes = 16u << 20;
  constexpr std::size_t kCopies = 100;
  const Buffer from = device().make_buffer("from", kBytes, BufferUse::kStorage);
  const Buffer to = device().make_buffer("to", kBytes, BufferUse::kStorage);
  const Buffer last = device().make_buffer("last", 64, BufferUse::kDownload);
  const std::vector<Copy> copies(kCopies, {&from, 0, &to, 0, kBytes});
  const Copy last_copy{&to, 0, &last, 0, 64};
  const auto start_long_batch = [&] {
    device().submit(copies, {}, {}, {&last_copy, 1});
    return device().start_reading(last, 64);
  };

  const auto begin = Clock::now();
  device().finish_reading(start_long_batch());
  const auto alone = Clock::now() - begin;
  device().unmap(last);

  const PendingRead running = start_long_batch();
  const auto middle = Clock::now();
  const Buffer upload = device().make_buffer("upload", 1024, BufferUse::kUpload);
  const Buffer storage = device().make_buffer("storage", 1024, BufferUse::kStorage);
  std::memset(device().map_for_writing(upload, 1024), 7, 1024);
  device().unmap(upload);
  const auto beside = Clock::now() - middle;
  EXPECT_LT(beside, alone / 2);
  device().finish_reading(running);
  device().unmap(last);
}

TEST(WebgpuStepTime, AStampThatWasNotWrittenIsDropped) {
  EXPECT_EQ(stamped_seconds(0, 5, 1e-9), std::nullopt);
  EXPECT_EQ(stamped_seconds(5, 0, 1e-9), std::nullopt);
  EXPECT_EQ(stamped_seconds(0, 0, 1e-9), std::nullopt);
  EXPECT_EQ(stamped_seconds(7, 6, 1e-9), std::nullopt);
  EXPECT_EQ(stamped_seconds(5, 15, 0.5), 5.0);
}

TEST_F(WebgpuRuntime, AnUnknownAdapterIsAnError) {
  try {
    Device none(DeviceOptions{"no such GPU", {}, false});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kDeviceUnavailable);
  }
}

}  // namespace
}  // namespace hemstitch
