// Pages in device memory, in pinned memory, and on the processor: batches of all sizes, and a store of many
// gigabytes.
//
//   pages_device_bench FOLDER [GIGABYTES]
//
// FOLDER has silesia/. The pages are those of its nine files, a third of them same-filled, repeated until the
// store has so many gigabytes (10 unless given; 60 take about 40 GB of memory). Rows:
//
//   batches    of 100 to 100,000 pages, on cuda and on the processor (bench/pages.hpp)
//   a store    all pages in calls of 10,000: put from device memory into an empty store, and again over the
//              present pages; got into device memory and into pinned memory. The same with pinned memory, and
//              with the processor alone on all cores. A figure is all bytes divided by the sum of the calls'
//              times; beside it, the median call
//
// Every page that is got is compared, between the timed calls. Prints each row of a recorded run on a line.
#include <cuda_runtime.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

#include "device_array.hpp"
#include "pages.hpp"

namespace hemstitch {
namespace {

using namespace bench;

constexpr std::size_t kCallPages = 10'000, kCallBytes = kCallPages * kPage;
constexpr std::size_t kMostFileBytes = std::size_t{1} << 40;  // the whole of each file
const char* const kFiles[] = {"dickens", "mr", "nci", "ooffice", "osdb", "reymont", "samba", "x-ray", "xml"};

// The calls of a store, one for each 10,000 pages.
class StoreCalls {
 public:
  // The pages repeat: call i takes them from place i * kCallPages on, modulo their number. Page numbers never
  // repeat.
  StoreCalls(const Pages& pages, std::size_t bytes, bool prefault)
      : pages_(pages),
        calls_per_repetition_(pages.count() / kCallPages),
        calls_(bytes / kCallBytes),
        prefault_(prefault) {
    if (calls_per_repetition_ == 0) fail("there are fewer pages than a call has");
  }

  PageStore empty_store(const char* backend) const {
    // These pages are kept in less than half of their bytes.
    return PageStore({.page_count = calls_ * kCallPages,
                      .budget_bytes = prefault_ ? calls_ * kCallBytes * 6 / 10 : 0,
                      .prefault = prefault_,
                      .batch = {.backend = backend}});
  }
  // Prints a row. Times work(numbers, place of the call's first byte among the pages); verify(the expected
  // pages) is not timed.
  void tell(const char* what, const char* backend, const PageStore& store,
            const std::function<void(std::span<const std::uint64_t>, std::size_t)>& work,
            const std::function<void(std::span<const std::byte>, std::size_t)>& verify = {}) const {
    const std::uint64_t fallback_pages = store.statistics().fallback_pages;
    std::vector<double> seconds(calls_);
    std::vector<std::uint64_t> numbers(kCallPages);
    double all_seconds = 0;
    for (std::size_t call = 0; call < calls_; ++call) {
      for (std::size_t i = 0; i < kCallPages; ++i) numbers[i] = call * kCallPages + i;
      const std::size_t at = call % calls_per_repetition_ * kCallBytes;
      seconds[call] = seconds_of([&] { work(numbers, at); });
      all_seconds += seconds[call];
      if (verify) verify(std::span(pages_.bytes).subspan(at, kCallBytes), at);
    }
    const PageStoreStatistics kept = store.statistics();
    const double bytes = double(calls_ * kCallBytes);
    if (kept.pages != calls_ * kCallPages) fail("pages are missing");
    print({{"what", fmt::format("{}: {}", prefault_ ? "prefaulted page store" : "page store", what)},
           {"backend", backend},
           {"items", kCallPages},
           {"bytes", calls_ * kCallBytes},
           {"ratio", bytes / double(kept.kept_bytes)},
           {"gbps", bytes / all_seconds / 1e9},
           {"microseconds", median(seconds) * 1e6},
           {"same_filled_share", double(kept.same_filled) / double(kept.pages)},
           {"memory_bytes", kept.memory_bytes},
           {"fallback_pages", kept.fallback_pages - fallback_pages},
           {"verified", true},
           {"threads", std::thread::hardware_concurrency()}});
  }

 private:
  const Pages& pages_;
  std::size_t calls_per_repetition_, calls_;
  bool prefault_;
};

void stores(const Pages& pages, std::size_t bytes, bool prefault) {
  const StoreCalls calls(pages, bytes, prefault);
  const PageBatch batch({.backend = "cuda"});
  PageBuffer pinned = batch.make_buffer(pages.bytes.size());
  const auto hold_pinned = [&](std::span<const std::byte> wanted, std::size_t at) {
    const std::span<std::byte> got = pinned.bytes().subspan(at, kCallBytes);
    if (std::memcmp(got.data(), wanted.data(), kCallBytes) != 0) fail("a page in pinned memory is wrong");
    std::ranges::fill(got, std::byte{0xA5});
  };
  {
    const DeviceArray<std::byte> from(pages.bytes);
    const DeviceArray<std::byte> to(pages.bytes.size());
    cuda::check(cudaMemset(to.data, 0xA5, to.count), "cudaMemset");
    const auto hold_device = [&](std::span<const std::byte> wanted, std::size_t at) {
      cuda::check(cudaMemcpy(pinned.bytes().data() + at, to.data + at, kCallBytes, cudaMemcpyDeviceToHost),
                  "cudaMemcpy");
      hold_pinned(wanted, at);
      cuda::check(cudaMemset(to.data + at, 0xA5, kCallBytes), "cudaMemset");
      cuda::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    };
    PageStore store = calls.empty_store("cuda");
    const auto put = [&](auto numbers, std::size_t at) {
      store.put_many_from_device(numbers, from.data + at);
    };
    {  // Starts the device, and makes its kernels and the memory of its lanes.
      PageStore first({.page_count = kCallPages, .batch = {.backend = "cuda"}});
      std::vector<std::uint64_t> numbers(kCallPages);
      for (std::size_t i = 0; i < kCallPages; ++i) numbers[i] = i;
      first.put_many_from_device(numbers, from.data);
      first.get_many_to_device(numbers, to.data);
    }
    calls.tell("put from device memory, empty store", "cuda", store, put);
    calls.tell("put from device memory", "cuda", store, put);
    calls.tell(
        "get into device memory", "cuda", store,
        [&](auto numbers, std::size_t at) { store.get_many_to_device(numbers, to.data + at); }, hold_device);
    calls.tell(
        "get into pinned memory", "cuda", store,
        [&](auto numbers, std::size_t at) {
          store.get_many(numbers, pinned.bytes().subspan(at, kCallBytes));
        },
        hold_pinned);
  }
  for (const char* backend : {"cuda", "cpu"}) {
    PageStore store = calls.empty_store(backend);
    std::ranges::copy(pages.bytes, pinned.bytes().data());
    const auto put = [&](auto numbers, std::size_t at) {
      store.put_many(numbers, pinned.bytes().subspan(at, kCallBytes));
    };
    calls.tell("put from pinned memory, empty store", backend, store, put);
    calls.tell("put from pinned memory", backend, store, put);
    if (std::string(backend) == "cuda") continue;  // was measured above
    calls.tell(
        "get into pinned memory", backend, store,
        [&](auto numbers, std::size_t at) {
          store.get_many(numbers, pinned.bytes().subspan(at, kCallBytes));
        },
        hold_pinned);
  }
}

int run(int count, char** words) {
  if (count != 2 && count != 3) {
    fmt::print(stderr, "usage: pages_device_bench FOLDER [GIGABYTES]\n");
    return 2;
  }
  const double gigabytes = count == 3 ? std::atof(words[2]) : 10;
  std::vector<std::string> files;
  for (const char* name : kFiles) files.push_back(std::filesystem::path(words[1]) / "silesia" / name);
  const Pages pages = read_pages(files, 33, kMostFileBytes);
  for (const char* backend : {"cuda", "cpu"}) batches(pages, backend, "");
  for (const bool prefault : {false, true})
    stores(pages, static_cast<std::size_t>(gigabytes * 1e9), prefault);
  return 0;
}

}  // namespace
}  // namespace hemstitch

int main(int count, char** words) {
  try {
    return hemstitch::run(count, words);
  } catch (const std::exception& error) {
    fmt::print(stderr, "pages_device_bench: {}\n", error.what());
    return 1;
  }
}
