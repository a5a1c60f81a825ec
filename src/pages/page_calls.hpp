// What calls for many pages share: the check of their arguments, and where statuses go.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "pages/page_store.hpp"

namespace hemstitch {

inline void check_many(const PageStore::Impl& impl, std::span<const std::uint64_t> numbers,
                       std::size_t statuses) {
  if (statuses != 0 && statuses != numbers.size())
    throw Error(Status::kInvalidOption,
                fmt::format("{} pages have {} statuses; give one for each", numbers.size(), statuses));
  for (const std::uint64_t number : numbers) impl.check_number(number);
}

// Takes statuses from any thread. They go to the caller; or if the caller wants none, the first failed page is kept, to be
// thrown. Takes no memory.
class Statuses {
 public:
  Statuses(std::span<const std::uint64_t> numbers, std::span<Status> wanted)
      : numbers_(numbers), wanted_(wanted), first_failed_(numbers.size()) {}

  void tell(std::size_t i, Status status) {
    if (!wanted_.empty()) {
      wanted_[i] = status;
    } else if (status != Status::kOk) {
      const std::scoped_lock lock(mutex_);
      if (i >= first_failed_) return;
      first_failed_ = i;
      first_status_ = status;
    }
  }
  // Call it once all statuses are told.
  void throw_first(const PageStore::Impl& store) const {
    if (first_failed_ < numbers_.size()) store.fail(first_status_, numbers_[first_failed_]);
  }

 private:
  std::span<const std::uint64_t> numbers_;
  std::span<Status> wanted_;
  std::mutex mutex_;  // guards what follows
  std::size_t first_failed_;
  Status first_status_ = Status::kOk;
};

// Marks the pages whose number occurs again later in a call: the later page is to be kept, whichever thread is first.
// Empty if numbers ascend.
inline std::vector<bool> superseded_pages(std::span<const std::uint64_t> numbers) {
  if (std::ranges::adjacent_find(numbers, std::ranges::greater_equal()) == numbers.end()) return {};
  std::vector<std::size_t> order(numbers.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return numbers[i]; });
  std::vector<bool> superseded(numbers.size());
  for (std::size_t place = 0; place + 1 < order.size(); ++place)
    superseded[order[place]] = numbers[order[place]] == numbers[order[place + 1]];
  return superseded;
}

inline bool is_superseded(const std::vector<bool>& superseded, std::size_t i) {
  return !superseded.empty() && superseded[i];
}

}  // namespace hemstitch
