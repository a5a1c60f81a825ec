// What a store would do with given pages: how many are of which kind, how much memory they take, and the
// speed of put and get, by batch size and backend. For the command `pages`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hemstitch/pages.hpp"

namespace hemstitch {

// Microseconds of single calls.
struct CallTimes {
  double p50 = 0, p99 = 0;
};

// GB/s of pages, in calls with this many pages.
struct BatchSpeed {
  std::string backend;
  std::uint64_t pages = 0;
  double put_gbps = 0, get_gbps = 0;
};

struct PageSurvey {
  static constexpr std::size_t kSizeClasses = 16;

  PageStoreStatistics kept;
  std::uint64_t page_bytes = 0;
  std::array<std::uint64_t, kSizeClasses>
      by_size{};       // pages by kept bytes, in sixteenths of a page; raw ones in the last
  CallTimes put, get;  // of one page, on the processor
  std::vector<BatchSpeed> speeds;

  double ratio() const;                   // of the pages to their kept bytes
  double ratio_with_bookkeeping() const;  // to all memory that the store uses
  // From how many pages in a call on some device is faster than the processor in both directions; 0: never.
  std::uint64_t crossing_pages() const;
};

// `pages`: whole pages, at least one. Every page from a get is compared with what was put; throws kInternal
// if it differs. `backends`: measured besides "cpu", which always is.
PageSurvey survey_pages(std::span<const std::byte> pages, const PageBatchOptions& options,
                        std::span<const std::string> backends);

// A drawing of sizes and speeds.
std::string page_survey_svg(const PageSurvey& survey, std::string_view name);

}  // namespace hemstitch
