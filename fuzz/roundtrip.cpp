// Any bytes, any options: what is compressed restores to the same bytes, here and in liblz4.
#include <cstdlib>

#include "core/status.hpp"
#include "lz4f_oracle.hpp"

using namespace hemstitch;
using hemstitch::testing::Bytes;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  CompressOptions options;
  options.level = 1 + data[0] % kMaxLevel;
  options.block_bytes = 64 * 1024;
  options.linked_blocks = data[1] & 1;
  options.block_checksums = data[1] & 2;
  options.content_checksum = data[1] & 4;
  options.threads = 1;
  // Repeating the input crosses block borders without long inputs.
  const std::size_t repeats = 1 + (data[1] >> 3) * std::size_t{data[2]} % 300;
  const Bytes piece(reinterpret_cast<const std::byte*>(data) + 3,
                    reinterpret_cast<const std::byte*>(data) + size);
  Bytes content;
  for (std::size_t i = 0; i < repeats && content.size() < 300000; i++)
    content.insert(content.end(), piece.begin(), piece.end());

  const Bytes frame = compress(content, options);
  RestoreOptions restore_options;
  restore_options.threads = 1;
  if (restore(frame, restore_options) != content) std::abort();
  if (testing::lz4f_restore(frame) != content) std::abort();
  return 0;
}
