// Any bytes as the file of a store. It must load the pages that liblz4 finds in the file, with ascending
// numbers within the limits and the budget of the store. If it refuses the file, only whole pages before the
// damage may have changed. A file that was loaded and saved must load again as the same pages.
//
// Random bytes do not have the right checksum of the index. So the checksum is corrected, unless a choice
// says not to.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "core/bytes.hpp"
#include "format/checksum.hpp"
#include "fuzz.hpp"
#include "hemstitch/pages.hpp"
#include "lz4_differences.hpp"

using namespace hemstitch;
using namespace hemstitch::fuzz;
using namespace hemstitch::testing;

namespace {

constexpr std::uint32_t kPage = kMinPageBytes;
constexpr std::size_t kIndexAt = 8;
constexpr std::uint64_t kPageCount = 5000, kBudget = std::uint64_t{1} << 20;

// A file in memory, with a path.
class MemoryFile {
 public:
  explicit MemoryFile(std::span<const std::byte> bytes) : descriptor_(memfd_create("pages", 0)) {
    require(descriptor_ >= 0 &&
            write(descriptor_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  }
  ~MemoryFile() { close(descriptor_); }
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

void make_sum_right(Bytes& file) {
  if (file.size() < kIndexAt) return;
  const std::uint64_t index_bytes = load_le32(file.data() + 4);
  if (index_bytes < kChecksumBytes || index_bytes > file.size() - kIndexAt) return;
  const auto index = std::span(file).subspan(kIndexAt, index_bytes);
  store_le32(index.last(kChecksumBytes).data(),
             checksum_of(Checksum::kXxh32, index.first(index_bytes - kChecksumBytes)));
}

Bytes pages_of(const PageStore& store) {
  const std::vector<std::uint64_t> numbers = store.numbers();
  require(std::ranges::is_sorted(numbers) && numbers.size() == store.statistics().pages);
  Bytes pages(numbers.size() * kPage);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    require(store.options().page_count == 0 || numbers[i] < kPageCount);
    require(store.get(numbers[i], std::span(pages).subspan(i * kPage, kPage)));
  }
  return pages;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider input(data, size);
  const bool right_sum = input.ConsumeBool();
  const PageStoreOptions options{.page_count = input.ConsumeBool() ? kPageCount : 0,
                                 .budget_bytes = input.ConsumeBool() ? kBudget : 0,
                                 .batch = {.backend = "cpu", .threads = 1}};
  Bytes file = rest_of(input);
  if (right_sum) make_sum_right(file);
  PageStore store(options);
  Status status = Status::kOk;
  try {
    store.load(MemoryFile(file).path());
  } catch (const Error& error) {
    status = error.status();
  }
  const Bytes pages = pages_of(store);
  require(options.budget_bytes == 0 || store.statistics().memory_bytes <= kBudget);
  if (status != Status::kOk) return 0;
  require(lz4_difference_of(file, {Status::kOk, pages}, lz4f_restore(file)).has_value());
  const std::vector<std::uint64_t> numbers = store.numbers();
  const std::string saved = "/tmp/hemstitch-fuzz-pages-" + std::to_string(getpid());
  store.save(saved);
  PageStore again(options);
  again.load(saved);
  unlink(saved.c_str());
  require(again.numbers() == numbers && pages_of(again) == pages);
  return 0;
}
