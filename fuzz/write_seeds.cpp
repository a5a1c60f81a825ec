// Writes inputs for fuzz targets of decoders: valid data that no encoder writes (tests/valid_data), laid out as each target reads
// it.
//
//   write_seeds FOLDER      FOLDER/TARGET/NUMBER for each of them
#include <array>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>

#include "valid_data/choices.hpp"
#include "valid_data/valid_data.hpp"

using namespace hemstitch::testing;

namespace {

constexpr std::uint64_t kSeeds = 24;

struct Target {
  const char* name;
  ValidDataGenerator* make;
  std::size_t most_content_bytes;
  // Behind the data, whence a target takes its choices, the last bytes first (fuzz.hpp): some of any value; before them zeros, for
  // the sizes of what stands before the data.
  std::size_t choice_bytes, zero_bytes;
};

constexpr Target kTargets[] = {{"decode_deflate", valid_deflate_stream, 2000, 4, 2},
                               {"decode_lz4_frame", valid_lz4_frames, 2000, 0, 0},
                               {"decode_zstd", valid_zstd_frame, 2000, 3, 0},
                               {"parse_lz4_frame", valid_lz4_frames, 2000, 0, 0},
                               {"restore_deflate_kernels", valid_deflate_stream, 2000, 3, 4},
                               {"restore_lz4_block", valid_lz4_block, 2000, 3, 2},
                               {"restore_lz4_kernels", valid_lz4_block, 2000, 4, 4},
                               {"restore_stream_device", valid_gzip_file, 8000, 27, 4},
                               {"restore_stream_parallel", valid_gzip_file, 8000, 18, 4},
                               {"restore_zstd_parallel", valid_zstd_frame, 2000, 9, 2},
                               {"walk_lz4_block", valid_lz4_block, 2000, 2, 0},
                               {"walk_lz4_frame", valid_lz4_frames, 2000, 1, 0}};

void write(const std::filesystem::path& folder, const Target& target) {
  constexpr std::size_t kMostBytes = 900;  // some targets take no longer input; it is little for the others
  constexpr std::size_t kGzipHeaderBytes = 10;
  std::filesystem::create_directories(folder / target.name);
  std::uint64_t written = 0;
  for (std::uint64_t seed = 0; written < kSeeds; ++seed) {
    ValidData made = target.make(seed, target.most_content_bytes);
    if (!made.dictionary.empty() || made.data.size() > kMostBytes) continue;
    // Those of streams begin behind a header.
    if (target.make == valid_gzip_file) {
      if (made.data.size() < kGzipHeaderBytes || made.data[3] != std::byte{0}) continue;
      made.data.erase(made.data.begin(), made.data.begin() + kGzipHeaderBytes);
    }
    made.data.resize(made.data.size() + target.zero_bytes);
    Choices choices(seed);
    for (std::size_t i = 0; i < target.choice_bytes; ++i)
      made.data.push_back(static_cast<std::byte>(choices.below(256)));
    std::ofstream file(folder / target.name / ("valid_" + std::to_string(seed)), std::ios::binary);
    file.exceptions(std::ios::failbit | std::ios::badbit);
    file.write(reinterpret_cast<const char*>(made.data.data()),
               static_cast<std::streamsize>(made.data.size()));
    file.close();
    ++written;
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::fputs("usage: write_seeds FOLDER\n", stderr);
    return 1;
  }
  try {
    for (const Target& target : kTargets) write(arguments[1], target);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "write_seeds: %s\n", error.what());
    return 1;
  }
  return 0;
}
