#include "format/deflate/frame/bgzf_index.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "core/bytes.hpp"
#include "format/bgzf_places.hpp"

namespace hemstitch {
namespace {

// Goes from block to block by the sizes in their headers. It expects the headers of our writer, without other
// extra fields.
class BgzfIndex : public SideIndex {
 public:
  std::string_view suffix() const override { return ".gzi"; }

  void add(std::span<const std::byte> bytes) override {
    while (!bytes.empty()) {
      const std::uint64_t wanted =
          header_bytes_ < header_.size() ? header_.size() - header_bytes_ : block_end_ - position_;
      const auto part = bytes.first(static_cast<std::size_t>(std::min<std::uint64_t>(wanted, bytes.size())));
      bytes = bytes.subspan(part.size());
      position_ += part.size();
      if (header_bytes_ < header_.size())
        take_header(part);
      else
        take_rest(part);
    }
  }

  std::vector<std::byte> bytes() override {
    const auto but_the_first = std::span(places_).subspan(places_.empty() ? 0 : 1);
    return gzi_bytes(but_the_first);
  }

 private:
  void take_header(std::span<const std::byte> part) {
    std::ranges::copy(part, header_.begin() + static_cast<std::ptrdiff_t>(header_bytes_));
    header_bytes_ += part.size();
    if (header_bytes_ == header_.size())
      block_end_ = position_ - header_.size() + (load_le32(header_.data() + 14) >> 16) + 1;
  }

  // The last four bytes of a block are the size of its content.
  void take_rest(std::span<const std::byte> part) {
    for (const std::byte byte : part.last(std::min<std::size_t>(part.size(), 4)))
      last_word_ = last_word_ >> 8 | static_cast<std::uint32_t>(byte) << 24;
    if (position_ != block_end_) return;
    if (last_word_ != 0) places_.push_back({block_begin_, content_bytes_});
    content_bytes_ += last_word_;
    block_begin_ = block_end_;
    header_bytes_ = 0;
  }

  std::array<std::byte, 18> header_{};
  std::size_t header_bytes_ = 0;
  std::uint64_t position_ = 0, block_begin_ = 0, block_end_ = 0, content_bytes_ = 0;
  std::uint32_t last_word_ = 0;
  std::vector<BgzfPlace> places_;
};

}  // namespace

std::unique_ptr<SideIndex> make_bgzf_index() { return std::make_unique<BgzfIndex>(); }

}  // namespace hemstitch
