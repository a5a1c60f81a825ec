// What the programs that measure pages share: the pages, clocks, and rows of batches.
#pragma once

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "hemstitch/pages.hpp"

namespace hemstitch::bench {

using Json = nlohmann::ordered_json;
using Bytes = std::vector<std::byte>;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kPage = kMinPageBytes;
constexpr int kRounds = 9;

inline double seconds_of(const std::function<void()>& work) {
  const Clock::time_point begin = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Of the thread alone, whoever else works on the machine.
inline double processor_seconds_of(const std::function<void()>& work) {
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return double(time.tv_sec) + double(time.tv_nsec) / 1e9;
  };
  const double begin = now();
  work();
  return now() - begin;
}

inline double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + std::ssize(values) / 2);
  return values[values.size() / 2];
}

struct Pages {
  Bytes bytes;
  std::size_t count() const { return bytes.size() / kPage; }
  std::span<const std::byte> at(std::size_t i) const { return std::span(bytes).subspan(i * kPage, kPage); }
};

// Same-filled pages stand between the others as they come in memory: here and there, mostly zeros.
inline Pages read_pages(const std::vector<std::string>& files, int same_percent, std::size_t most_bytes) {
  Pages pages;
  std::mt19937 random(1);
  for (const std::string& name : files) {
    std::ifstream file(name, std::ios::binary);
    if (!file) throw std::runtime_error("cannot read " + name);
    Bytes page(kPage);
    const std::size_t end = pages.bytes.size() + most_bytes / files.size();
    while (pages.bytes.size() < end && file.read(reinterpret_cast<char*>(page.data()), kPage)) {
      pages.bytes.insert(pages.bytes.end(), page.begin(), page.end());
      while (random() % 100 < static_cast<unsigned>(same_percent)) {
        const std::uint64_t word = random() % 4 == 0 ? random() : 0;
        for (std::size_t at = 0; at < kPage; at += sizeof word)
          std::memcpy(page.data() + at, &word, sizeof word);
        pages.bytes.insert(pages.bytes.end(), page.begin(), page.end());
      }
    }
  }
  return pages;
}

inline void print(const Json& row) {
  fmt::print("{}\n", row.dump());
  std::fflush(stdout);
}

inline void fail(const char* what) { throw std::runtime_error(what); }

// Of a PageBatch and of a store, from and to memory of the batch's own: pinned, of a device that has such. The median of 9 calls behind one to warm
// up; every page that is got is compared.
inline void batches(const Pages& pages, const std::string& backend, const std::string& device) {
  const PageBatch batch({.backend = backend, .device = device});
  for (const std::size_t wanted : {100, 1000, 2000, 5000, 10000, 100000}) {
    const std::size_t count = wanted, bytes = count * kPage;
    PageBuffer input = batch.make_buffer(bytes), kept = batch.make_buffer(bytes),
               back = batch.make_buffer(bytes);
    std::vector<const std::byte*> inputs(count);
    std::vector<std::byte*> outputs(count);
    std::vector<std::uint64_t> numbers(count);
    for (std::size_t i = 0; i < count; ++i) {
      std::ranges::copy(pages.at(i % pages.count()), input.bytes().data() + i * kPage);
      inputs[i] = input.bytes().data() + i * kPage;
      outputs[i] = back.bytes().data() + i * kPage;
      numbers[i] = i;
    }
    std::vector<KeptPage> entries(count);
    PageBatchReport report;
    const auto timed = [&](const auto& work) {
      std::vector<double> seconds;
      for (int round = 0; round <= kRounds; ++round) {
        const double one = seconds_of(work);
        if (round != 0) seconds.push_back(one);
      }
      return median(seconds);
    };
    const auto tell = [&](const char* what, double seconds) {
      print({{"what", what},
             {"backend", report.backend.empty() ? backend : report.backend},
             {"items", count},
             {"gbps", double(bytes) / seconds / 1e9},
             {"microseconds", seconds * 1e6},
             {"upload_ms", report.upload_seconds * 1e3},
             {"kernel_ms", report.kernel_seconds * 1e3},
             {"download_ms", report.download_seconds * 1e3},
             {"cpu_ms", report.cpu_seconds * 1e3},
             {"fallback_pages", report.fallback_pages},
             {"verified", true},
             {"threads", std::thread::hardware_concurrency()}});
    };
    tell("page batch: compress", timed([&] { report = batch.compress(inputs, kept.bytes(), entries); }));
    tell("page batch: restore", timed([&] { report = batch.restore(kept.bytes(), entries, outputs); }));
    if (std::memcmp(input.bytes().data(), back.bytes().data(), bytes) != 0)
      fail("a page of a batch is wrong");
    report = {};
    PageStore store({.page_count = count, .batch = {.backend = backend, .device = device}});
    tell("page store: put of many", timed([&] { store.put_many(numbers, input.bytes()); }));
    std::ranges::fill(back.bytes(), std::byte{0});
    tell("page store: get of many", timed([&] { store.get_many(numbers, back.bytes()); }));
    if (std::memcmp(input.bytes().data(), back.bytes().data(), bytes) != 0)
      fail("a page of a store is wrong");
  }
}

}  // namespace hemstitch::bench
