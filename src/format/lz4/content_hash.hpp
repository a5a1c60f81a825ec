// XXH32 of content that comes in pieces: the content checksum of LZ4 frames.
#pragma once

#include <xxhash.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>

namespace hemstitch {

class ContentHash {
 public:
  // Throws std::bad_alloc. The state is libxxhash's to make: its size is no part of the shared library's interface.
  ContentHash() : state_(XXH32_createState(), XXH32_freeState) {
    if (!state_) throw std::bad_alloc();
    reset();
  }

  void reset() { XXH32_reset(state_.get(), 0); }
  void update(std::span<const std::byte> bytes) { XXH32_update(state_.get(), bytes.data(), bytes.size()); }
  std::uint32_t digest() const { return XXH32_digest(state_.get()); }

 private:
  std::unique_ptr<XXH32_state_t, decltype(&XXH32_freeState)> state_;
};

}  // namespace hemstitch
