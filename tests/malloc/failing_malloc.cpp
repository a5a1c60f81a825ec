#include "failing_malloc.hpp"

#include <atomic>
#include <limits>

#include "allocation_fails.hpp"

namespace hemstitch::testing {
namespace {

constexpr long kNever = std::numeric_limits<long>::max();
constinit std::atomic<long> g_count{0}, g_first_failing{kNever}, g_last_failing{0};

}  // namespace

bool allocation_fails() {
  const long number = g_count.fetch_add(1, std::memory_order_relaxed) + 1;
  return number >= g_first_failing.load(std::memory_order_relaxed) &&
         number <= g_last_failing.load(std::memory_order_relaxed);
}

void fail_allocation(long n, Failing failing) {
  g_count = 0;
  g_last_failing = failing == Failing::kOne ? n : kNever;
  g_first_failing = n;
}

void fail_no_allocation() { g_first_failing = kNever; }

long allocation_count() { return g_count; }

}  // namespace hemstitch::testing
