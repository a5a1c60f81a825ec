#include "disk.hpp"

#include <algorithm>
#include <cstring>

namespace hemstitch {
namespace {

PageStoreOptions with_count(std::uint64_t bytes, PageStoreOptions options) {
  options.page_count = (bytes + options.batch.page_bytes - 1) / options.batch.page_bytes;
  return options;
}

}  // namespace

Disk::Disk(std::uint64_t bytes, const PageStoreOptions& store)
    : bytes_(bytes), store_(with_count(bytes, store)), gathers_(store.batch.backend != "cpu") {}

void Disk::read_pages(std::uint64_t first, std::span<std::byte> into) {
  const std::uint64_t count = into.size() / page_bytes();
  if (!gathers_) {
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::span<std::byte> page = into.subspan(i * page_bytes(), page_bytes());
      if (!store_.get(first + i, page)) std::memset(page.data(), 0, page.size());
    }
    return;
  }
  Pages request{.first = first, .into = into, .from = {}};
  reads_.add(request, [&](std::span<Pages* const> requests) {
    std::vector<std::uint64_t> numbers;
    std::uint64_t bytes_in_all = 0;
    for (const Pages* other : requests) {
      for (std::uint64_t i = 0; i < other->into.size() / page_bytes(); ++i)
        numbers.push_back(other->first + i);
      bytes_in_all += other->into.size();
    }
    if (requests.size() == 1) {
      store_.get_many(numbers, requests[0]->into);
      return;
    }
    std::vector<std::byte> bytes(bytes_in_all);
    std::vector<Status> statuses(numbers.size());
    store_.get_many(numbers, bytes, statuses);
    std::size_t page = 0;
    for (Pages* other : requests) {
      std::memcpy(other->into.data(), bytes.data() + page * page_bytes(), other->into.size());
      for (std::uint64_t i = 0; i < other->into.size() / page_bytes(); ++i, ++page)
        if (other->status == Status::kOk) other->status = statuses[page];
    }
  });
  if (request.status != Status::kOk) throw Error(request.status, "a page of this request failed");
}

void Disk::write_pages(std::uint64_t first, std::span<const std::byte> bytes) {
  const std::uint64_t count = bytes.size() / page_bytes();
  if (!gathers_) {
    for (std::uint64_t i = 0; i < count; ++i)
      store_.put(first + i, bytes.subspan(i * page_bytes(), page_bytes()));
    return;
  }
  Pages request{.first = first, .into = {}, .from = bytes};
  writes_.add(request, [&](std::span<Pages* const> requests) {
    std::vector<std::uint64_t> numbers;
    std::vector<std::byte> joined;
    for (const Pages* other : requests) {
      for (std::uint64_t i = 0; i < other->from.size() / page_bytes(); ++i)
        numbers.push_back(other->first + i);
      if (requests.size() > 1) joined.insert(joined.end(), other->from.begin(), other->from.end());
    }
    std::vector<Status> statuses(numbers.size());
    store_.put_many(numbers, requests.size() > 1 ? std::span<const std::byte>(joined) : requests[0]->from,
                    statuses);
    std::size_t page = 0;
    for (Pages* other : requests)
      for (std::uint64_t i = 0; i < other->from.size() / page_bytes(); ++i, ++page)
        if (other->status == Status::kOk) other->status = statuses[page];
  });
  if (request.status != Status::kOk) throw Error(request.status, "a page of this request failed");
}

template <class Change>
void Disk::change_part(std::uint64_t page, const Change& change) {
  std::array<std::byte, kMaxPageBytes> room;
  const std::span<std::byte> bytes = std::span(room).first(page_bytes());
  const std::unique_lock lock(stripes_[page / kStripePages % kStripes]);
  if (!store_.get(page, bytes)) std::memset(bytes.data(), 0, bytes.size());
  change(bytes);
  store_.put(page, bytes);
}

template <class Body>
void Disk::on_whole_pages(std::uint64_t first, std::uint64_t count, const Body& body) {
  if (count == 0) return;
  // Locks in the order of the stripes, not of the pages, so that no two requests wait for each other.
  const std::uint64_t first_group = first / kStripePages, last_group = (first + count - 1) / kStripePages;
  std::array<std::shared_lock<std::shared_mutex>, kStripes> locks;
  for (std::size_t stripe = 0; stripe < kStripes; ++stripe) {
    const std::uint64_t behind = (stripe + kStripes - first_group % kStripes) % kStripes;
    if (first_group + behind <= last_group) locks[stripe] = std::shared_lock(stripes_[stripe]);
  }
  body();
}

void Disk::read(std::uint64_t at, std::span<std::byte> into) {
  while (!into.empty()) {
    const std::uint64_t page = at / page_bytes(), begin = at % page_bytes();
    std::size_t count = std::min<std::uint64_t>(page_bytes() - begin, into.size());
    if (count == page_bytes()) {
      count = into.size() / page_bytes() * page_bytes();
      read_pages(page, into.first(count));
    } else {
      std::array<std::byte, kMaxPageBytes> room;
      const std::span<std::byte> bytes = std::span(room).first(page_bytes());
      if (store_.get(page, bytes))
        std::memcpy(into.data(), bytes.data() + begin, count);
      else
        std::memset(into.data(), 0, count);
    }
    at += count;
    into = into.subspan(count);
  }
}

void Disk::write(std::uint64_t at, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const std::uint64_t page = at / page_bytes(), begin = at % page_bytes();
    std::size_t count = std::min<std::uint64_t>(page_bytes() - begin, bytes.size());
    if (count == page_bytes()) {
      count = bytes.size() / page_bytes() * page_bytes();
      on_whole_pages(page, count / page_bytes(), [&] { write_pages(page, bytes.first(count)); });
    } else {
      change_part(
          page, [&](std::span<std::byte> whole) { std::memcpy(whole.data() + begin, bytes.data(), count); });
    }
    at += count;
    bytes = bytes.subspan(count);
  }
}

void Disk::zero(std::uint64_t at, std::uint64_t left) {
  while (left != 0) {
    const std::uint64_t page = at / page_bytes(), begin = at % page_bytes();
    std::uint64_t count = std::min(page_bytes() - begin, left);
    if (count == page_bytes()) {
      count = left / page_bytes() * page_bytes();
      on_whole_pages(page, count / page_bytes(), [&] { store_.discard_range(page, count / page_bytes()); });
    } else if (store_.contains(page)) {
      change_part(page, [&](std::span<std::byte> whole) { std::memset(whole.data() + begin, 0, count); });
    }
    at += count;
    left -= count;
  }
}

std::vector<Disk::Extent> Disk::extents(std::uint64_t at, std::uint64_t count) const {
  const std::uint64_t size = store_.page_bytes();
  const std::uint64_t first = at / size, end = (at + count + size - 1) / size;
  std::vector<Extent> found;
  const auto add = [&](std::uint64_t from, std::uint64_t to, bool is_data) {
    if (from == to) return;
    if (!found.empty() && found.back().is_data == is_data)
      found.back().bytes += (to - from) * size;
    else
      found.push_back({from * size, (to - from) * size, is_data});
  };
  std::uint64_t next = first;
  for (const std::uint64_t number : store_.numbers_in(first, end - first)) {
    add(next, number, false);
    add(number, number + 1, true);
    next = number + 1;
  }
  add(next, end, false);
  return found;
}

}  // namespace hemstitch
