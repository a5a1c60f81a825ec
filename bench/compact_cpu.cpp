// The cost of scan, gather and scatter on the processor: cases of bench/device/compact_bench.cu.
//
//   compact_cpu
//
// Uses all cores. Every figure is the median of 11 calls after one to warm up. The peer is a loop on one
// thread: sums, or a memcpy for each piece. Prints each row of a recorded run on a line (tools/bench rows
// records them).
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "compact/gather/gather.hpp"
#include "compact/scan/scan.hpp"
#include "compact/scatter/scatter.hpp"

namespace hemstitch {
namespace {

using Json = nlohmann::ordered_json;
using Bytes = std::vector<std::byte>;

double median_seconds(const std::function<void()>& work) {
  constexpr int kCalls = 11;
  std::vector<double> seconds;
  for (int call = 0; call <= kCalls; ++call) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    if (call != 0)
      seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  std::nth_element(seconds.begin(), seconds.begin() + kCalls / 2, seconds.end());
  return seconds[kCalls / 2];
}

void print(Json row) {
  row["threads"] = std::thread::hardware_concurrency();
  fmt::print("{}\n", row.dump());
  std::fflush(stdout);
}

void scan(std::size_t count) {
  std::mt19937 random(1);
  std::vector<std::uint32_t> sizes(count);
  for (std::uint32_t& size : sizes) size = static_cast<std::uint32_t>(random());
  std::vector<std::uint64_t> offsets(count + 1), expected(count + 1, 0);
  const double peer_seconds = median_seconds([&] {
    for (std::size_t i = 0; i < count; ++i) expected[i + 1] = expected[i] + sizes[i];
  });
  const double seconds = median_seconds([&] { scan_sizes(sizes, offsets); });
  print({{"what", "scan"},
         {"backend", "cpu"},
         {"items", count},
         {"microseconds", seconds * 1e6},
         {"gitems", 1e-9 * static_cast<double>(count) / seconds},
         {"span", "memory"},
         {"peer", "a loop on one thread"},
         {"peer_microseconds", peer_seconds * 1e6},
         {"verified", offsets == expected}});
}

// At the source, pieces are `gap` bytes apart.
void gather_and_scatter(const char* name, const std::vector<std::uint32_t>& sizes, std::size_t gap) {
  const std::size_t count = sizes.size();
  std::vector<std::uint64_t> offsets(count);
  std::vector<std::size_t> begins(count);
  std::size_t bytes = 0, source_bytes = 0;
  for (std::size_t i = 0; i < count; ++i) {
    offsets[i] = bytes;
    begins[i] = source_bytes;
    bytes += sizes[i];
    source_bytes += sizes[i] + gap;
  }
  Bytes source(source_bytes), expected(bytes), output(bytes), back(source_bytes);
  std::mt19937_64 random(2);
  for (std::size_t i = 0; i + 8 <= source.size(); i += 8) {
    const std::uint64_t word = random();
    std::memcpy(source.data() + i, &word, 8);
  }
  std::vector<const std::byte*> sources(count);
  std::vector<std::byte*> targets(count);
  for (std::size_t i = 0; i < count; ++i) {
    sources[i] = source.data() + begins[i];
    targets[i] = back.data() + begins[i];
  }
  const auto print_copy = [&](const char* what, double seconds, double peer_seconds, bool verified) {
    print({{"what", what},
           {"backend", "cpu"},
           {"level", name},
           {"items", count},
           {"bytes", bytes},
           {"milliseconds", seconds * 1e3},
           {"gbps", 1e-9 * static_cast<double>(bytes) / seconds},
           {"span", "memory"},
           {"peer", "memcpy, a piece at a time, on one thread"},
           {"peer_gbps", 1e-9 * static_cast<double>(bytes) / peer_seconds},
           {"verified", verified}});
  };
  const double peer_seconds = median_seconds([&] {
    for (std::size_t i = 0; i < count; ++i) std::memcpy(expected.data() + offsets[i], sources[i], sizes[i]);
  });
  const double seconds = median_seconds([&] { gather_pieces(sources, sizes, offsets, output); });
  print_copy("gather", seconds, peer_seconds, output == expected);

  const double peer_back_seconds = median_seconds([&] {
    for (std::size_t i = 0; i < count; ++i) std::memcpy(targets[i], expected.data() + offsets[i], sizes[i]);
  });
  std::fill(back.begin(), back.end(), std::byte{0xA5});
  const double back_seconds = median_seconds([&] { scatter_pieces(output, offsets, sizes, targets); });
  bool verified = true;
  for (std::size_t i = 0; i < count; ++i) {
    verified &= std::memcmp(targets[i], sources[i], sizes[i]) == 0;
    for (std::size_t j = 0; j < gap; ++j) verified &= targets[i][sizes[i] + j] == std::byte{0xA5};
  }
  print_copy("scatter", back_seconds, peer_back_seconds, verified);
}

std::vector<std::uint32_t> random_sizes(std::size_t count, std::uint32_t least, std::uint32_t most) {
  std::mt19937 random(3);
  std::vector<std::uint32_t> sizes(count);
  for (std::uint32_t& size : sizes) size = least + static_cast<std::uint32_t>(random() % (most - least + 1));
  return sizes;
}

void bench() {
  for (const std::size_t count : {std::size_t{10'000}, std::size_t{100'000}, std::size_t{1} << 24})
    scan(count);
  const std::vector<std::uint32_t> alike(10'000, 11'000);
  gather_and_scatter("10,000 of 11,000 bytes", alike, 0);
  gather_and_scatter("10,000 of 11,000 bytes at any alignment", alike, 7);
  gather_and_scatter("1,000,000 of 16 to 256 bytes", random_sizes(1'000'000, 16, 256), 3);
  std::vector<std::uint32_t> one_large = random_sizes(10'000, 1, 2000);
  one_large[5000] = 500'000'000;
  gather_and_scatter("one of 500 MB among 10,000 small", one_large, 1);
}

}  // namespace
}  // namespace hemstitch

int main() {
  try {
    hemstitch::bench();
  } catch (const std::exception& error) {
    fmt::print(stderr, "compact_cpu: {}\n", error.what());
    return 1;
  }
  return 0;
}
