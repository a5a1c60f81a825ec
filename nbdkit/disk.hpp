// A disk of bytes on a store of pages: requests at any place and of any length.
//
// A part of a page is changed by a get, the change, and a put, under a lock on the page. Other such requests
// wait for this lock, and so do those that write or free the whole page; the latter do not wait for each
// other. Reading takes no lock: while a request is written, a reader may see some of its pages and not
// others, as on any disk, but never a part of a page.
#pragma once

#include <array>
#include <cstdint>
#include <shared_mutex>
#include <span>
#include <vector>

#include "hemstitch/pages.hpp"
#include "request_queue.hpp"

namespace hemstitch {

class Disk {
 public:
  // The disk has at least a byte. Sets store.page_count.
  Disk(std::uint64_t bytes, const PageStoreOptions& store);

  std::uint64_t bytes() const { return bytes_; }
  PageStore& store() { return store_; }

  // Requests must lie inside the disk. Throw as PageStore does: kMemoryLimit in the middle of a request
  // leaves its first pages written.
  void read(std::uint64_t at, std::span<std::byte> into);
  void write(std::uint64_t at, std::span<const std::byte> bytes);
  // Zeros the range; whole pages are freed.
  void zero(std::uint64_t at, std::uint64_t count);

  struct Extent {
    std::uint64_t at = 0, bytes = 0;
    bool is_data = false;
  };
  // The pages around a range, ascending and without gaps.
  std::vector<Extent> extents(std::uint64_t at, std::uint64_t count) const;

 private:
  struct Pages {
    std::uint64_t first = 0;
    std::span<std::byte> into;
    std::span<const std::byte> from;
    Status status = Status::kOk;
  };
  static constexpr std::size_t kStripes = 64, kStripePages = 16;

  std::uint64_t page_bytes() const { return store_.page_bytes(); }
  void read_pages(std::uint64_t first, std::span<std::byte> into);
  void write_pages(std::uint64_t first, std::span<const std::byte> bytes);
  template <class Change>
  void change_part(std::uint64_t page, const Change& change);
  // Calls body under the locks of all pages of a range, shared with other such calls.
  template <class Body>
  void on_whole_pages(std::uint64_t first, std::uint64_t count, const Body& body);

  std::uint64_t bytes_;
  PageStore store_;
  bool gathers_;  // gathers requests, for a device
  RequestQueue<Pages> reads_, writes_;
  std::array<std::shared_mutex, kStripes> stripes_;
};

}  // namespace hemstitch
