// The processor's part of device tests, on all cores: twins are slow.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

namespace hemstitch::testing {

// Calls work(i) for every i below `count`, in any order.
inline void on_all_cores(std::size_t count, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < std::max(1u, std::thread::hardware_concurrency()); ++t)
    threads.emplace_back([&] {
      for (std::size_t i; (i = next++) < count;) work(i);
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace hemstitch::testing
