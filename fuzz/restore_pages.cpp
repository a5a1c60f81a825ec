// Any bytes as the stored form of a page: in a slot of a store whose memory was damaged, and among the bytes
// of a batch whose entries may say anything. The page must be what its kind says (for a block, what liblz4
// restores); anything else must be an error of this page alone.
#include <lz4.h>

#include <algorithm>
#include <cstring>

#include "format/checksum.hpp"
#include "fuzz.hpp"
#include "lz4_differences.hpp"
#include "pages/page_store.hpp"

using namespace hemstitch;
using namespace hemstitch::fuzz;
using namespace hemstitch::testing;

namespace {

constexpr std::uint32_t kPage = kMinPageBytes;

std::optional<Bytes> by_liblz4(std::span<const std::byte> block) {
  Bytes page(kPage);
  const int written =
      LZ4_decompress_safe(reinterpret_cast<const char*>(block.data()), reinterpret_cast<char*>(page.data()),
                          static_cast<int>(block.size()), static_cast<int>(kPage));
  return written == static_cast<int>(kPage) ? std::optional(page) : std::nullopt;
}

// The page that these bytes stand for, or nothing if they are invalid. Not for blocks.
std::optional<Bytes> page_of(PageKind kind, std::span<const std::byte> kept) {
  if (kind == PageKind::kRaw && kept.size() == kPage) return Bytes(kept.begin(), kept.end());
  if (kind != PageKind::kSameFilled || kept.size() != sizeof(std::uint64_t)) return std::nullopt;
  Bytes page;
  while (page.size() < kPage) page.insert(page.end(), kept.begin(), kept.end());
  return page;
}

// Checks the page that was restored; nothing stands for an error.
void require_page(PageKind kind, std::span<const std::byte> kept, const std::optional<Bytes>& made) {
  if (kind == PageKind::kCompressed && kept.size() < kPage)
    require(lz4_block_as_meant(kept, kPage, made, by_liblz4(kept)));
  else
    require(made == page_of(kind, kept));
  if (!made) return;
  // As a block for a device, it must be the same page.
  Bytes block(most_block_bytes(kPage));
  block.resize(write_as_block(kind, kept, kPage, block.data()));
  require(lz4_block_as_meant(block, kPage, made, by_liblz4(block)));
}

void in_a_store(PageKind kind, std::span<const std::byte> kept, bool checksums) {
  PageStore::Impl store({.page_count = 100, .checksums = checksums, .batch = {.backend = "cpu"}});
  const Bytes words = wordy_bytes(kPage);
  // Their neighbours in the slab are valid pages.
  for (const std::uint64_t number : {1, 3, 5}) require(store.put_one(number, words) == Status::kOk);
  const PageForm form{kind, static_cast<std::uint32_t>(kept.size())};
  const std::uint32_t sum = store.checksum_of_page(words);
  for (const std::uint64_t number : {2, 4})
    require(store.store(number, form, kept.data(), sum) == Status::kOk);
  // Damages the bytes of a page that was put as a whole.
  const PageRef ref = store.find(store.shard_of(5), 5);
  const std::size_t damaged = std::min<std::size_t>(kept.size(), ref.bytes());
  std::memcpy(store.data_of(ref.slot()), kept.data(), damaged);
  const Bytes in_slot(store.data_of(ref.slot()), store.data_of(ref.slot()) + ref.bytes());

  const auto get = [&](std::uint64_t number) {
    Bytes page(kPage);
    bool found = false;
    const Status status = store.get_one(number, page, found);
    require(found);
    const bool sum_is_right = !checksums || checksum_of(Checksum::kXxh32, page) == sum;
    require(status == Status::kCorruptBlock ||
            status == (sum_is_right ? Status::kOk : Status::kBlockChecksumMismatch));
    return status == Status::kCorruptBlock ? std::nullopt : std::optional(page);
  };
  for (const std::uint64_t number : {2, 4}) require_page(kind, kept, get(number));
  require_page(ref.kind(), in_slot, get(5));
  // Compaction moves damaged pages too.
  require(store.discard(2));
  store.compact(0);
  require_page(kind, kept, get(4));
  for (const std::uint64_t number : {1, 3}) require(get(number) == words);
}

void in_a_batch(FuzzedDataProvider& input) {
  std::vector<KeptPage> entries(input.ConsumeIntegralInRange<std::size_t>(1, 40));
  for (KeptPage& entry : entries)
    entry = {.at = input.ConsumeBool() ? input.ConsumeIntegralInRange<std::uint64_t>(0, 6000)
                                       : input.ConsumeIntegral<std::uint64_t>(),
             .bytes = input.ConsumeBool() ? input.ConsumeIntegralInRange<std::uint32_t>(0, kPage + 1)
                                          : input.ConsumeIntegral<std::uint32_t>(),
             .kind = static_cast<PageKind>(input.ConsumeIntegralInRange<std::uint32_t>(0, 4))};
  const Bytes kept = rest_of(input);
  Bytes restored(entries.size() * kPage);
  std::vector<std::byte*> pages;
  for (std::size_t i = 0; i < entries.size(); ++i) pages.push_back(restored.data() + i * kPage);
  const PageBatchReport report = PageBatch({.backend = "cpu", .threads = 1}).restore(kept, entries, pages);
  std::uint64_t damaged = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const KeptPage& entry = entries[i];
    const bool inside = entry.at <= kept.size() && entry.bytes <= kept.size() - entry.at;
    const auto page = std::span(restored).subspan(i * kPage, kPage);
    const auto made =
        entry.status == Status::kOk ? std::optional(Bytes(page.begin(), page.end())) : std::nullopt;
    require(made || entry.status == Status::kCorruptBlock);
    if (inside)
      require_page(entry.kind, std::span(kept).subspan(entry.at, entry.bytes), made);
    else
      require(!made);
    damaged += entry.status != Status::kOk;
  }
  require(report.damaged == damaged);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider input(data, size);
  if (input.ConsumeBool()) {
    in_a_batch(input);
    return 0;
  }
  const bool checksums = input.ConsumeBool();
  const auto kind = static_cast<PageKind>(input.ConsumeIntegralInRange<std::uint32_t>(1, 3));
  Bytes kept = rest_of(input);
  kept.resize(std::min<std::size_t>(kept.size(), kPage));
  if (kept.empty()) return 0;  // a store keeps at least one byte of each page
  in_a_store(kind, kept, checksums);
  return 0;
}
