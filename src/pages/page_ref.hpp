// A page's place and kind in 64 bits, or 0 for no page. A store's tables hold one for each page.
#pragma once

#include <cstdint>

#include "hemstitch/pages.hpp"
#include "pages/slot_memory.hpp"

namespace hemstitch {

class PageRef {
 public:
  PageRef() = default;
  explicit PageRef(std::uint64_t bits) : bits_(bits) {}
  // `tag`: kTagBits of the number's hash. It tells most other numbers apart without reading their slots.
  PageRef(SlotPlace slot, PageKind kind, std::uint32_t bytes, std::uint64_t tag)
      : bits_(std::uint64_t{slot.index} | std::uint64_t{slot.slab} << SlotMemory::kSlotBits |
              std::uint64_t{bytes} << kBytesAt | static_cast<std::uint64_t>(kind) << kKindAt |
              tag << kTagAt) {}

  static constexpr unsigned kTagBits = 7;

  std::uint64_t bits() const { return bits_; }
  bool is_page() const { return bits_ != 0; }
  std::uint64_t tag() const { return bits_ >> kTagAt; }
  PageKind kind() const { return static_cast<PageKind>(bits_ >> kKindAt & 3); }
  std::uint32_t bytes() const {
    return static_cast<std::uint32_t>(bits_ >> kBytesAt) & ((1U << kBytesBits) - 1);
  }
  SlotPlace slot() const {
    return {static_cast<std::uint32_t>(bits_ >> SlotMemory::kSlotBits) & ((1U << SlotMemory::kSlabBits) - 1),
            static_cast<std::uint32_t>(bits_) & ((1U << SlotMemory::kSlotBits) - 1)};
  }
  PageRef moved_to(SlotPlace slot) const { return {slot, kind(), bytes(), tag()}; }

 private:
  static constexpr unsigned kBytesBits = 17;
  static constexpr unsigned kBytesAt = SlotMemory::kSlotBits + SlotMemory::kSlabBits;
  static constexpr unsigned kKindAt = kBytesAt + kBytesBits;
  static constexpr unsigned kTagAt = kKindAt + 2;
  static_assert(kTagAt + kTagBits == 64);

  std::uint64_t bits_ = 0;
};

}  // namespace hemstitch
