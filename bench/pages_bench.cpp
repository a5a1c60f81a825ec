// Pages put and got: on the processor, beside liblz4's own speed for the same pages, and in batches on any
// backend.
//
//   pages_bench [--backend NAME] [--device NAME] [--same PERCENT] [--most SIZE_MB] [--batches-only] FILE...
//
// The pages are those of all files, one after the other, with PERCENT percent of same-filled pages among them
// (33 unless given). One core is measured by the thread's processor time: rounds of liblz4 and of the
// store alternate, and each figure is the median of 9 rounds. The store has its numbers in a table, as a disk
// has. For batches, see bench/pages.hpp. Every page that is got is compared. Prints each row of a recorded
// run on a line. bench/device/pages_bench.cpp measures pages in device memory.
#include <lz4.h>

#include <CLI/CLI.hpp>

#include "pages.hpp"

namespace hemstitch {
namespace {

using namespace bench;

// One thread, page by page. liblz4 compresses into room for one block, and restores from blocks that are
// adjacent. It also compresses same-filled pages, since it has no case for them.
void one_core(const Pages& pages, const std::string& what) {
  const std::size_t count = pages.count();
  PageStore store({.page_count = count, .batch = {.backend = "cpu", .threads = 1}});
  Bytes blocks(count * LZ4_COMPRESSBOUND(kPage));
  std::vector<std::size_t> at(count + 1);
  Bytes got(pages.bytes.size());
  std::vector<std::size_t> shuffled(count);
  for (std::size_t i = 0; i < count; ++i) shuffled[i] = i;
  std::ranges::shuffle(shuffled, std::mt19937(2));
  const auto chars = [](auto* bytes) { return reinterpret_cast<const char*>(bytes); };
  const auto compress_all = [&] {
    for (std::size_t i = 0; i < count; ++i)
      at[i + 1] = at[i] + static_cast<std::size_t>(LZ4_compress_default(
                              chars(pages.at(i).data()), reinterpret_cast<char*>(blocks.data() + at[i]),
                              static_cast<int>(kPage), LZ4_COMPRESSBOUND(kPage)));
  };
  const auto restore_in = [&](auto place) {
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t i = place(k);
      if (LZ4_decompress_safe(chars(blocks.data() + at[i]), reinterpret_cast<char*>(got.data() + i * kPage),
                              static_cast<int>(at[i + 1] - at[i]),
                              static_cast<int>(kPage)) != static_cast<int>(kPage))
        fail("liblz4 does not restore a page");
    }
  };
  const auto get_in = [&](auto place) {
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t i = place(k);
      if (!store.get(i, std::span(got).subspan(i * kPage, kPage))) fail("a page is missing");
    }
  };
  const auto in_order = [](std::size_t k) { return k; };
  const auto at_random = [&](std::size_t k) { return shuffled[k]; };
  const auto put_all = [&] {
    for (std::size_t i = 0; i < count; ++i) store.put(i, pages.at(i));
  };
  struct Pair {
    const char* name;
    std::function<void()> ours, peer;
  };
  const Pair pairs[] = {{"put", put_all, compress_all},
                        {"get in order", [&] { get_in(in_order); }, [&] { restore_in(in_order); }},
                        {"get at random", [&] { get_in(at_random); }, [&] { restore_in(at_random); }}};
  for (const Pair& pair : pairs) {
    std::vector<double> ours, peers, shares;
    for (int round = 0; round <= kRounds; ++round) {
      const double peer_seconds = processor_seconds_of(pair.peer);
      std::ranges::fill(got, std::byte{0});
      const double seconds = processor_seconds_of(pair.ours);
      if (pair.name[0] == 'g' && got != pages.bytes) fail("a page is wrong");
      if (round == 0) continue;
      ours.push_back(seconds), peers.push_back(peer_seconds), shares.push_back(peer_seconds / seconds);
    }
    const double bytes = double(pages.bytes.size());
    const PageStoreStatistics kept = store.statistics();
    print({{"what", fmt::format("page store: {}, {}", pair.name, what)},
           {"backend", "cpu"},
           {"items", count},
           {"same_filled_share", double(kept.same_filled) / double(kept.pages)},
           {"ratio", bytes / double(kept.kept_bytes)},
           {"gbps", bytes / median(ours) / 1e9},
           {"peer", "liblz4, one thread"},
           {"peer_gbps", bytes / median(peers) / 1e9},
           {"share_of_peer", median(shares)},
           {"verified", true},
           {"threads", 1}});
  }
  std::vector<double> calls(count);
  Bytes page(kPage);
  for (std::size_t k = 0; k < count; ++k) {
    calls[k] = seconds_of([&] { store.get(shuffled[k], page); });
    if (!std::ranges::equal(page, pages.at(shuffled[k]))) fail("a page is wrong");
  }
  std::ranges::sort(calls);
  print({{"what", fmt::format("page store: one get, {}", what)},
         {"backend", "cpu"},
         {"items", count},
         {"p50_microseconds", calls[count / 2] * 1e6},
         {"p99_microseconds", calls[count * 99 / 100] * 1e6},
         {"verified", true},
         {"threads", 1}});
}

int run(int count, char** words) {
  CLI::App app("Pages put and got");
  std::string backend = "cpu", device;
  int same_percent = 33;
  std::size_t most_megabytes = 256;
  bool batches_only = false;
  std::vector<std::string> files;
  app.add_option("--backend", backend);
  app.add_option("--device", device);
  app.add_option("--same", same_percent)->check(CLI::Range(0, 90));
  app.add_option("--most", most_megabytes);
  app.add_flag("--batches-only", batches_only);
  app.add_option("FILE", files)->required();
  CLI11_PARSE(app, count, words);
  const Pages pages = read_pages(files, same_percent, most_megabytes << 20);
  if (pages.count() == 0) fail("there is no whole page");
  if (!batches_only) {
    one_core(pages, fmt::format("{} % drawn same-filled", same_percent));
    one_core({Bytes(std::size_t{64} << 20)}, "zeros");
  }
  batches(pages, backend, device);
  return 0;
}

}  // namespace
}  // namespace hemstitch

int main(int count, char** words) {
  try {
    return hemstitch::run(count, words);
  } catch (const std::exception& error) {
    fmt::print(stderr, "pages_bench: {}\n", error.what());
    return 1;
  }
}
