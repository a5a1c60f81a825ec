#include "pages/page_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <new>
#include <system_error>

#include "core/options.hpp"
#include "format/checksum.hpp"

namespace hemstitch {
namespace {

using namespace std::chrono_literals;

// How long the compaction waits, so that it moves together what is freed together. And the share of free slots from which on it
// works while pages still change; once nothing changes any more, it frees whatever slab it can.
constexpr auto kPause = 50ms;
constexpr double kBusyFreeShare = 0.05;

constexpr std::uint32_t kPrefetchBytes = 4096;

PageStoreOptions checked(const PageStoreOptions& options) {
  check_page_options(options.batch);
  if (options.page_count > FlatPageTable::kMostPages)
    throw Error(Status::kInvalidOption,
                fmt::format("page_count is {}; it must be at most {}, or 0 for any number",
                            options.page_count, FlatPageTable::kMostPages));
  if (options.prefault && options.budget_bytes == 0)
    throw Error(Status::kInvalidOption, "prefault needs budget_bytes: it allocates that much");
  return options;
}

}  // namespace

double PageStoreStatistics::fragmentation() const {
  if (slot_bytes == 0) return 0;
  return 1 - std::min(1.0, double(used_slot_bytes) / double(slot_bytes));
}

PageStore::Impl::Impl(const PageStoreOptions& wanted)
    : options(checked(wanted)),
      number_bytes(options.page_count != 0 ? sizeof(std::uint32_t) : sizeof(std::uint64_t)),
      budget(options.budget_bytes),
      batch(options.batch),
      codec(options.batch.page_bytes, options.batch.level) {
  slots.emplace(SlotMemory::Plan{.page_bytes = page_bytes(),
                                 .largest_slot_bytes = round_up(header_bytes() + page_bytes(), number_bytes),
                                 .lock = options.lock_memory,
                                 .prefault = options.prefault},
                budget);
  if (options.page_count != 0) {
    flat.emplace(options.page_count, budget);
  } else {
    for (Shard& shard : shards)
      shard.table.emplace(budget, [this](PageRef ref) { return number_in(ref.slot()); });
  }
  const std::uint64_t least_budget =
      slots->least_bytes() + (flat ? FlatPageTable::kPartBytes : HashedPageTable::kLeastBytes);
  if (options.budget_bytes != 0 && options.budget_bytes < least_budget)
    throw Error(Status::kInvalidOption,
                fmt::format("budget_bytes is {}; a store of pages of {} bytes needs at least {}",
                            options.budget_bytes, page_bytes(), least_budget));
  if (options.checksums) zeros_checksum = checksum_of_page(std::vector<std::byte>(page_bytes()));
  try {
    compaction = std::thread([this] { run_compaction(); });
  } catch (const std::system_error& error) {
    throw Error(Status::kOutOfMemory, fmt::format("the store cannot start its thread: {}", error.what()));
  }
}

PageStore::Impl::~Impl() {
  {
    const std::scoped_lock lock(wake_mutex);
    ends = true;
  }
  wake.notify_all();
  compaction.join();
}

void PageStore::Impl::unmap_in_child() {
  slots->unmap_in_child();
  flat.reset();
}

void PageStore::Impl::fail(Status status, std::uint64_t number) const {
  if (status == Status::kMemoryLimit)
    throw Error(status, fmt::format("page {}: the store's budget of {} bytes is used up; discard pages first",
                                    number, options.budget_bytes));
  throw Error(status, fmt::format("page {}", number));
}

void PageStore::Impl::check_number(std::uint64_t number) const {
  if (options.page_count != 0 && number >= options.page_count)
    throw Error(Status::kInvalidOption, fmt::format("there is no page {}; the store has numbers below {}",
                                                    number, options.page_count));
}

void PageStore::Impl::check(std::uint64_t number, std::size_t bytes) const {
  check_number(number);
  if (bytes != page_bytes())
    throw Error(Status::kInvalidOption,
                fmt::format("a page has {} bytes; the store has pages of {}", bytes, page_bytes()));
}

// The compaction may look at a slot that is being filled. It takes what it reads for a number, and then does not find that number.
std::uint64_t PageStore::Impl::number_in(SlotPlace slot) const {
  std::byte* const at = slots->at(slot);
  if (number_bytes == sizeof(std::uint32_t))
    return std::atomic_ref(*reinterpret_cast<std::uint32_t*>(at)).load(std::memory_order_relaxed);
  return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(at)).load(std::memory_order_relaxed);
}

std::uint32_t PageStore::Impl::checksum_in(SlotPlace slot) const {
  std::uint32_t checksum = 0;
  if (options.checksums) std::memcpy(&checksum, slots->at(slot) + number_bytes, sizeof checksum);
  return checksum;
}

void PageStore::Impl::write_slot(SlotPlace slot, std::uint64_t number, std::uint32_t checksum,
                                 const std::byte* data, std::uint32_t bytes) {
  std::byte* const at = slots->at(slot);
  if (number_bytes == sizeof(std::uint32_t))
    std::atomic_ref(*reinterpret_cast<std::uint32_t*>(at))
        .store(static_cast<std::uint32_t>(number), std::memory_order_relaxed);
  else
    std::atomic_ref(*reinterpret_cast<std::uint64_t*>(at)).store(number, std::memory_order_relaxed);
  if (options.checksums) std::memcpy(at + number_bytes, &checksum, sizeof checksum);
  std::memcpy(at + header_bytes(), data, bytes);
}

PageRef PageStore::Impl::find(Shard& shard, std::uint64_t number) {
  if (flat) return flat->of(number);
  const std::uint64_t* const entry = shard.table->find(number);
  return entry != nullptr ? PageRef(*entry) : PageRef();
}

void PageStore::Impl::replace(Shard& shard, std::uint64_t number, PageRef ref) {
  if (flat)
    flat->set(number, ref);
  else
    *shard.table->find(number) = ref.bits();
}

void PageStore::Impl::remove(Shard& shard, std::uint64_t number) {
  if (flat)
    flat->set(number, PageRef());
  else
    shard.table->erase(shard.table->find(number));
}

void PageStore::Impl::count(Shard& shard, PageRef ref, std::int64_t by) {
  const auto pages = static_cast<std::uint64_t>(by);
  shard.counts.pages += pages;
  shard.counts.kept_bytes += pages * ref.bytes();
  (ref.kind() == PageKind::kCompressed ? shard.counts.compressed
   : ref.kind() == PageKind::kRaw      ? shard.counts.raw
                                       : shard.counts.same_filled) += pages;
}

Status PageStore::Impl::store(std::uint64_t number, const PageForm& form, const std::byte* data,
                              std::uint32_t checksum) {
  const std::uint32_t needed = header_bytes() + form.bytes;
  const std::uint64_t tag = flat ? 0 : HashedPageTable::tag_of(hash_of(number));
  Shard& shard = shard_of(number);
  // Writes into the slot of the page that is replaced. With `any_class`, also if the slot is larger than needed; and if
  // the slot is being read, waits for its reader.
  const auto put_in_place = [&](bool any_class) {
    for (;; std::this_thread::yield()) {
      const std::scoped_lock lock(shard.mutex);
      const PageRef old = find(shard, number);
      if (!old.is_page()) return false;
      if (any_class ? slots->slot_bytes(old.slot()) < needed : !slots->fits_class(old.slot(), needed))
        return false;
      if (shard.readers.has(old.slot())) {
        if (any_class) continue;
        return false;
      }
      const PageRef made(old.slot(), form.kind, form.bytes, tag);
      write_slot(old.slot(), number, checksum, data, form.bytes);
      replace(shard, number, made);
      count(shard, old, -1);
      count(shard, made, 1);
      ++shard.counts.puts;
      return true;
    }
  };
  const auto refuse = [&](Status status) {
    const std::scoped_lock lock(shard.mutex);
    ++shard.counts.refused;
    return status;
  };

  if (put_in_place(false)) return Status::kOk;
  std::optional<SlotPlace> slot;
  Status status = Status::kMemoryLimit;
  try {
    slot = slots->take(needed);
    if (!slot) {
      // The budget is reached. Free slots may make room: those of one size together, or else those of any size.
      compact(0);
      slot = slots->take(needed);
      while (!slot && squeeze()) slot = slots->take(needed);
    }
  } catch (const Error& error) {
    status = error.status();
  } catch (const std::bad_alloc&) {
    status = Status::kOutOfMemory;
  }
  if (!slot) slot = slots->take(needed, true);
  if (!slot) return put_in_place(true) ? Status::kOk : refuse(status);

  write_slot(*slot, number, checksum, data, form.bytes);
  const PageRef made(*slot, form.kind, form.bytes, tag);
  PageRef old;
  bool is_left = false;
  status = Status::kOk;
  {
    const std::scoped_lock lock(shard.mutex);
    old = find(shard, number);
    if (old.is_page()) {
      replace(shard, number, made);
      is_left = shard.readers.leave(old.slot());
      count(shard, old, -1);
    } else if (flat) {
      if (flat->make_room(number))
        flat->set(number, made);
      else
        status = Status::kMemoryLimit;
    } else {
      try {
        if (!shard.table->insert(number, made)) status = Status::kMemoryLimit;
      } catch (const std::bad_alloc&) {
        status = Status::kOutOfMemory;
      }
    }
    if (status == Status::kOk) {
      count(shard, made, 1);
      ++shard.counts.puts;
    }
  }
  if (status != Status::kOk) {
    slots->give_back(*slot);
    return refuse(status);
  }
  if (old.is_page() && !is_left) give_back(old.slot());
  return Status::kOk;
}

std::uint32_t PageStore::Impl::checksum_of_page(std::span<const std::byte> page) const {
  return options.checksums ? checksum_of(Checksum::kXxh32, page) : 0;
}

template <std::uint32_t kBytes>
Status PageStore::Impl::put(std::uint64_t number, std::span<const std::byte> page) {
  std::array<std::byte, kBytes> room;
  const PageForm form = codec.compress(page, room);
  return store(number, form, form.kind == PageKind::kRaw ? page.data() : room.data(), checksum_of_page(page));
}

// Small pages need less stack than large ones.
Status PageStore::Impl::put_one(std::uint64_t number, std::span<const std::byte> page) {
  return page.size() == kMinPageBytes ? put<kMinPageBytes>(number, page) : put<kMaxPageBytes>(number, page);
}

void PageStore::Impl::prefetch(std::uint64_t number) const {
  if (!flat || number >= flat->page_count()) return;
  const PageRef ref = flat->of(number);
  if (ref.is_page()) slots->prefetch(ref.slot(), header_bytes() + std::min(ref.bytes(), kPrefetchBytes));
}

void PageStore::Impl::note_damage(std::uint64_t number) {
  Shard& shard = shard_of(number);
  const std::scoped_lock lock(shard.mutex);
  ++shard.counts.failed_pages;
}

template <std::uint32_t kBytes>
Status PageStore::Impl::get(std::uint64_t number, std::span<std::byte> page, bool& found, Counted counted,
                            std::uint64_t ahead) {
  std::array<std::byte, kBytes> kept;
  // The page's lines are prefetched while its kept bytes are looked up.
  for (std::size_t line = 0; line < kMinPageBytes; line += kLineBytes)
    __builtin_prefetch(page.data() + line, 1);
  Shard& shard = shard_of(number);
  PageRef ref;
  std::uint32_t checksum = 0;
  const std::byte* bytes = kept.data();
  SlotReaders::Entry* reader = nullptr;
  {
    const std::scoped_lock lock(shard.mutex);
    ref = find(shard, number);
    found = ref.is_page();
    if (counted == Counted::kYes) ++(found ? shard.counts.gets : shard.counts.misses);
    if (!found) return Status::kOk;
    checksum = checksum_in(ref.slot());
    if (ref.kind() != PageKind::kSameFilled) reader = shard.readers.begin(ref.slot());
    if (reader != nullptr)
      bytes = data_of(ref.slot());
    else
      std::memcpy(kept.data(), data_of(ref.slot()), ref.bytes());
  }
  if (reader != nullptr) prefetch_lines(bytes, std::min(ref.bytes(), kPrefetchBytes));
  prefetch(ahead);
  Status status = codec.restore(ref.kind(), std::span(bytes, ref.bytes()), page);
  if (reader != nullptr && SlotReaders::end(*reader)) give_back(ref.slot());
  if (status == Status::kOk && options.checksums && checksum_of_page(page) != checksum)
    status = Status::kBlockChecksumMismatch;
  if (status != Status::kOk) note_damage(number);
  return status;
}

Status PageStore::Impl::get_one(std::uint64_t number, std::span<std::byte> page, bool& found, Counted counted,
                                std::uint64_t ahead) {
  return page.size() == kMinPageBytes ? get<kMinPageBytes>(number, page, found, counted, ahead)
                                      : get<kMaxPageBytes>(number, page, found, counted, ahead);
}

bool PageStore::Impl::discard(std::uint64_t number) {
  Shard& shard = shard_of(number);
  PageRef old;
  bool is_left = false;
  {
    const std::scoped_lock lock(shard.mutex);
    old = find(shard, number);
    if (!old.is_page()) return false;
    remove(shard, number);
    is_left = shard.readers.leave(old.slot());
    count(shard, old, -1);
    ++shard.counts.discards;
  }
  if (!is_left) give_back(old.slot());
  return true;
}

bool PageStore::Impl::contains(std::uint64_t number) {
  if (flat) return flat->of(number).is_page();
  Shard& shard = shard_of(number);
  const std::scoped_lock lock(shard.mutex);
  return find(shard, number).is_page();
}

std::vector<std::uint64_t> PageStore::Impl::numbers_in(std::uint64_t first, std::uint64_t count) {
  std::vector<std::uint64_t> found;
  if (count == 0) return found;
  const std::uint64_t largest = flat ? flat->page_count() - 1 : std::numeric_limits<std::uint64_t>::max();
  if (first > largest) return found;
  const std::uint64_t last = count - 1 > largest - first ? largest : first + (count - 1);
  if (flat) {
    for (std::uint64_t number = first; number <= last;) {
      std::uint64_t next = 0;
      if (!flat->may_have(number, next)) {
        number = next;
        continue;
      }
      if (flat->of(number).is_page()) found.push_back(number);
      ++number;
    }
    return found;
  }
  // Looks up the numbers or walks over the pages, whichever are fewer.
  std::uint64_t pages = 0;
  for (Shard& shard : shards) {
    const std::scoped_lock lock(shard.mutex);
    pages += shard.table->count();
  }
  if (last - first < pages) {
    for (std::uint64_t number = first;; ++number) {
      if (contains(number)) found.push_back(number);
      if (number == last) break;
    }
    return found;
  }
  for (Shard& shard : shards) {
    const std::scoped_lock lock(shard.mutex);
    found.reserve(found.size() + shard.table->count());
    shard.table->each([&](PageRef ref) {
      const std::uint64_t number = number_in(ref.slot());
      if (first <= number && number <= last) found.push_back(number);
    });
  }
  std::ranges::sort(found);
  return found;
}

bool PageStore::Impl::move(SlotPlace from) {
  const std::uint64_t number = number_in(from);
  if (flat && number >= flat->page_count()) return false;
  Shard& shard = shard_of(number);
  bool is_left = false;
  {
    const std::scoped_lock lock(shard.mutex);
    const PageRef ref = find(shard, number);
    if (!ref.is_page() || ref.slot() != from) return false;
    const std::optional<SlotPlace> to = slots->take_beside(from);
    if (!to) return false;
    write_slot(*to, number, checksum_in(from), data_of(from), ref.bytes());
    replace(shard, number, ref.moved_to(*to));
    is_left = shard.readers.leave(from);
  }
  if (!is_left) slots->give_back(from);
  moved_pages.fetch_add(1, std::memory_order_relaxed);
  return true;
}

std::uint64_t PageStore::Impl::compact(double least_free_share) {
  const std::scoped_lock lock(compaction_mutex);
  return slots->compact(least_free_share, *this);
}

bool PageStore::Impl::squeeze() {
  const std::scoped_lock lock(compaction_mutex);
  return slots->squeeze(*this);
}

void PageStore::Impl::give_back(SlotPlace slot) {
  slots->give_back(slot);
  note_change();
}

void PageStore::Impl::note_change() {
  changes.fetch_add(1);
  if (!sleeps.load()) return;
  const std::scoped_lock lock(wake_mutex);
  wake.notify_all();
}

void PageStore::Impl::run_compaction() {
  std::unique_lock lock(wake_mutex);
  std::uint64_t seen = 0;
  while (!ends) {
    sleeps.store(true);
    wake.wait(lock, [&] { return ends || changes.load() != seen; });
    sleeps.store(false);
    // While pages change, does only what is worth it; once nothing changes, everything.
    for (bool idle = false; !ends && !idle;) {
      seen = changes.load();
      wake.wait_for(lock, kPause, [&] { return ends; });
      if (ends) return;
      idle = changes.load() == seen;
      lock.unlock();
      const double share = idle ? 0 : kBusyFreeShare;
      if (slots->has_free_slabs(share)) compact(share);
      lock.lock();
    }
  }
}

PageStore::PageStore(const PageStoreOptions& options) : impl_(std::make_unique<Impl>(options)) {}

PageStore::~PageStore() {
  if (!impl_ || impl_->made_by == getpid()) return;
  impl_->unmap_in_child();
  static_cast<void>(impl_.release());
}

PageStore::PageStore(PageStore&&) noexcept = default;

PageStore& PageStore::operator=(PageStore&& other) noexcept {
  PageStore made(std::move(other));
  impl_.swap(made.impl_);
  return *this;
}

const PageStoreOptions& PageStore::options() const { return impl_->options; }

void PageStore::put(std::uint64_t number, std::span<const std::byte> page) {
  impl_->check(number, page.size());
  const Status status = impl_->put_one(number, page);
  if (status != Status::kOk) impl_->fail(status, number);
}

bool PageStore::get(std::uint64_t number, std::span<std::byte> page) const {
  impl_->check(number, page.size());
  bool found = false;
  const Status status = impl_->get_one(number, page, found);
  if (status != Status::kOk) impl_->fail(status, number);
  return found;
}

bool PageStore::contains(std::uint64_t number) const {
  impl_->check_number(number);
  return impl_->contains(number);
}

bool PageStore::describe(std::uint64_t number, KeptPage& page) const {
  impl_->check_number(number);
  Impl::Shard& shard = impl_->shard_of(number);
  const std::scoped_lock lock(shard.mutex);
  const PageRef ref = impl_->find(shard, number);
  if (!ref.is_page()) return false;
  page = {.at = 0, .bytes = ref.bytes(), .kind = ref.kind(), .status = Status::kOk};
  return true;
}

bool PageStore::discard(std::uint64_t number) {
  impl_->check_number(number);
  return impl_->discard(number);
}

std::uint64_t PageStore::discard_range(std::uint64_t first, std::uint64_t count) {
  std::uint64_t discarded = 0;
  for (const std::uint64_t number : impl_->numbers_in(first, count))
    if (impl_->discard(number)) ++discarded;
  return discarded;
}

std::vector<std::uint64_t> PageStore::numbers_in(std::uint64_t first, std::uint64_t count) const {
  return impl_->numbers_in(first, count);
}

std::vector<std::uint64_t> PageStore::numbers() const {
  std::vector<std::uint64_t> found = impl_->numbers_in(0, std::numeric_limits<std::uint64_t>::max());
  // The last number, which a count of 64 bits does not reach.
  constexpr std::uint64_t kLast = std::numeric_limits<std::uint64_t>::max();
  if (!impl_->flat && impl_->contains(kLast) && (found.empty() || found.back() != kLast))
    found.push_back(kLast);
  return found;
}

PageStoreStatistics PageStore::statistics() const {
  PageStoreStatistics sum;
  for (Impl::Shard& shard : impl_->shards) {
    const std::scoped_lock lock(shard.mutex);
    const PageStoreStatistics& counts = shard.counts;
    sum.pages += counts.pages;
    sum.same_filled += counts.same_filled;
    sum.compressed += counts.compressed;
    sum.raw += counts.raw;
    sum.kept_bytes += counts.kept_bytes;
    sum.puts += counts.puts;
    sum.gets += counts.gets;
    sum.misses += counts.misses;
    sum.discards += counts.discards;
    sum.refused += counts.refused;
    sum.failed_pages += counts.failed_pages;
    if (shard.table) sum.bookkeeping_bytes += shard.table->bookkeeping_bytes();
  }
  if (impl_->flat) sum.bookkeeping_bytes += impl_->flat->bookkeeping_bytes();
  sum.bookkeeping_bytes += impl_->slots->bookkeeping_bytes() + sum.pages * impl_->header_bytes();
  sum.used_slot_bytes = sum.kept_bytes + sum.pages * impl_->header_bytes();
  sum.slot_bytes = impl_->slots->slab_bytes();
  sum.memory_bytes = impl_->budget.used_bytes();
  sum.moved_pages = impl_->moved_pages.load(std::memory_order_relaxed);
  sum.fallback_pages = impl_->fallback_pages.load(std::memory_order_relaxed);
  return sum;
}

void PageStore::compact() { impl_->compact(0); }

}  // namespace hemstitch
