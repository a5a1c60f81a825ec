// What writing Zstandard costs on a CUDA device, stage by stage.
//
//   zstd_compress_device_bench FOLDER [GIGABYTES [LEVELS]]
//
// FOLDER holds silesia/. Each of nine files is one frame, in parts of 4 MB behind up to 8 MB of what is before them; it is repeated, each time as a frame of its own, until
// there are GIGABYTES (1) of content in flight, half of that at level 16. LEVELS is one or more of these letters, 135at by default: levels 1, 3, 5, 10 and 16.
// Levels 1 and 3 are measured first, of all files.
// Rows: "near", "find" and "far", the finders; "parse", the lazy parse and all passes; "back_end", prices, tables, states and bytes; "compress", the whole.
// Every figure is the median of three runs after one to warm up, or from level 5 on, where a run is long, that of one. Prints one row of a recorded run a line, and for each kind one of
// all files: their bytes by their seconds. A row is verified when the first copy is restored by libzstd, its first part equals the
// twin's, and all copies have the sizes and checksums of the first. The twins work beside the device, on all processors but two.
#include <zstd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <future>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "device_array.hpp"
#include "device_timing.hpp"
#include "format/deflate/frame/deflate_checksum_cuda.hpp"
#include "format/zstd/compress/zstd_encoder_cuda.hpp"
#include "format/zstd/frame/zstd_frame_header.hpp"
#include "gpu/cuda/scratch.hpp"
#include "kernel_totals.hpp"
#include "shapes.hpp"

namespace hemstitch {
namespace {

using bench::DeviceArray;
using bench::KernelTotals;
using bench::median_step_seconds;
using cuda::check;
using testing::Bytes;

// Levels that are measured together, file by file.
struct Turn {
  std::vector<int> levels;
  double share;  // of the content in flight
  int runs;
};

std::vector<Turn> turns_of(const std::string& letters) {
  const std::map<char, int> level_of = {{'1', 1}, {'3', 3}, {'5', 5}, {'a', 10}, {'t', 16}};
  std::vector<Turn> turns;
  for (const auto& [of_turn, share, runs] :
       {std::tuple{"13", 1.0, 3}, {"5", 1.0, 1}, {"a", 1.0, 1}, {"t", 0.5, 1}}) {
    Turn turn{{}, share, runs};
    for (const char letter : std::string(of_turn))
      if (letters.find(letter) != std::string::npos) turn.levels.push_back(level_of.at(letter));
    if (!turn.levels.empty()) turns.push_back(turn);
  }
  return turns;
}

constexpr const char* kFiles[] = {"dickens", "nci",     "samba", "mr", "osdb",
                                  "ooffice", "reymont", "x-ray", "xml"};

// What the twin makes of the first part of each file at each level, in the order in which they are asked for.
class Twins {
 public:
  Twins(const std::vector<Bytes>& files, const std::vector<Turn>& turns) {
    for (const Turn& turn : turns)
      for (const Bytes& file : files)
        for (const int level : turn.levels)
          tasks_.emplace_back([&file, level] {
            const std::size_t first_bytes = std::min(file.size(), kZstdDefaultPartBytes);
            Bytes data(zstd_data_room(first_bytes));
            data.resize(
                compress_zstd_part_reference({std::span(file).first(first_bytes), 0}, zstd_level(level), data)
                    .bytes);
            return data;
          });
    // Some processors are left to those who launch kernels.
    for (unsigned i = 2; i < std::max(std::thread::hardware_concurrency(), 3U); ++i)
      threads_.emplace_back([this] {
        for (std::size_t task = begun_++; task < tasks_.size(); task = begun_++) tasks_[task]();
      });
  }
  ~Twins() { begun_ = tasks_.size(); }
  Twins(const Twins&) = delete;
  Twins& operator=(const Twins&) = delete;

  Bytes next() { return tasks_.at(asked_++).get_future().get(); }

 private:
  std::vector<std::packaged_task<Bytes()>> tasks_;
  std::atomic<std::size_t> begun_ = 0;
  std::size_t asked_ = 0;
  std::vector<std::jthread> threads_;
};

// A file in parts, repeated, with room for what becomes of each of the format's blocks.
class Parts {
 public:
  Parts(const std::string& file, const Bytes& bytes, std::size_t in_flight)
      : file_(file),
        bytes_(bytes),
        copies_(std::max<std::size_t>(1, (in_flight + bytes.size() - 1) / bytes.size())),
        total_(copies_ * bytes.size()),
        d_input_(total_),
        d_parts_(copies_ * parts_of_a_copy()) {
    for (std::size_t copy = 0; copy < copies_; ++copy)
      check(cudaMemcpy(d_input_.data + copy * bytes.size(), copy == 0 ? bytes.data() : d_input_.data,
                       bytes.size(), cudaMemcpyDefault),
            "cudaMemcpy");
    std::vector<DeviceBlock> parts;
    for (std::size_t copy = 0; copy < copies_; ++copy)
      for (std::size_t begin = 0; begin < bytes.size(); begin += kZstdDefaultPartBytes) {
        const std::size_t position = copy * bytes.size() + begin;
        parts.push_back({d_input_.data + position,
                         static_cast<std::uint32_t>(std::min(kZstdDefaultPartBytes, bytes.size() - begin)),
                         static_cast<std::uint32_t>(std::min<std::size_t>(begin, kFarWindowBytes)),
                         position});
        batch_.max_block_bytes = std::max(batch_.max_block_bytes, parts.back().block_bytes);
        batch_.max_history_bytes = std::max(batch_.max_history_bytes, parts.back().history_bytes);
      }
    d_parts_.upload(parts);
    batch_.d_blocks = d_parts_.data;
    batch_.block_count = static_cast<std::uint32_t>(parts.size());
    batch_.total_block_bytes = total_;
  }

  void compress(int level_number, int runs, Twins& twins, KernelTotals& totals) const {
    const ZstdLevel level = zstd_level(level_number);
    cuda::Carver counted(nullptr);
    cuda::ZstdEncoder(batch_, level, counted);
    const DeviceArray<std::byte> scratch(counted.bytes());
    cuda::Carver carver(scratch.data);
    const cuda::ZstdEncoder encoder(batch_, level, carver);
    const std::size_t places = encoder.block_places().count;
    constexpr std::size_t kRoom = kZstdOwnBlockBytes + 16;
    const DeviceArray<std::byte> d_output(places * kRoom);
    std::vector<std::byte*> targets;
    for (std::size_t i = 0; i < places; ++i) targets.push_back(d_output.data + i * kRoom);
    const DeviceArray<std::byte*> d_targets(targets);

    enum Stage { kNear, kFind, kFar, kParse, kBackEnd, kStages };
    std::vector<std::function<void()>> steps;
    std::vector<Stage> stages;
    const auto step = [&](Stage stage, std::function<void()> work) {
      steps.push_back(std::move(work));
      stages.push_back(stage);
    };
    step(kBackEnd, [&] { encoder.cut(nullptr); });
    step(kNear, [&] { encoder.find_near(nullptr); });
    step(kFind, [&] { encoder.find_chain(nullptr); });
    for (std::size_t finder = 0; finder < encoder.far_count(); ++finder)
      step(kFar, [&, finder] { encoder.find_far(finder, nullptr); });
    step(kParse, [&] { encoder.parse_lazily(nullptr); });
    for (std::size_t pass = 0; pass < encoder.pass_count(); ++pass) {
      step(kBackEnd, [&] { encoder.price(nullptr); });
      step(kParse, [&, pass] { encoder.parse(pass, nullptr); });
    }
    step(kBackEnd, [&] { encoder.size(nullptr); });
    step(kBackEnd, [&] { encoder.pack(d_targets.data, nullptr); });
    const std::vector<double> seconds = median_step_seconds(nullptr, runs, steps);
    double of_stage[kStages] = {};
    for (std::size_t i = 0; i < steps.size(); ++i) of_stage[stages[i]] += seconds[i];
    std::fprintf(stderr, "%s, level %d, ms/GB:", file_.c_str(), level_number);
    for (std::size_t i = 0; i < steps.size(); ++i)
      std::fprintf(stderr, " %.2f", seconds[i] * 1e12 / static_cast<double>(total_));
    std::fprintf(stderr, "; %.1f bytes of scratch a byte\n",
                 static_cast<double>(counted.bytes()) / static_cast<double>(total_));

    std::vector<std::uint32_t> sizes(places);
    check(cudaMemcpy(sizes.data(), encoder.d_block_sizes(), places * sizeof sizes[0], cudaMemcpyDeviceToHost),
          "cudaMemcpy");
    const std::size_t first_copy = places_of_a_copy(encoder.block_places());
    std::size_t output_bytes = 0;
    for (std::size_t i = 0; i < first_copy; ++i) output_bytes += sizes[i];
    const bool verified = is_right(twins.next(), sizes, first_copy, d_output, targets, kRoom);
    const auto add = [&](const char* what, double step_seconds, bool has_ratio) {
      if (step_seconds == 0) return;
      totals.add({what, "zstd", std::to_string(level_number), file_, kZstdDefaultPartBytes, total_,
                  has_ratio ? static_cast<double>(bytes_.size()) / static_cast<double>(output_bytes) : 0,
                  static_cast<double>(total_) / step_seconds / 1e9, verified},
                 bytes_.size(), has_ratio ? output_bytes : 0);
    };
    add("near", of_stage[kNear], false);
    add("find", of_stage[kFind], false);
    add("far", of_stage[kFar], false);
    add("parse", of_stage[kParse], false);
    add("back_end", of_stage[kBackEnd], false);
    add("compress", seconds.back(), true);
  }

 private:
  std::size_t parts_of_a_copy() const {
    return (bytes_.size() + kZstdDefaultPartBytes - 1) / kZstdDefaultPartBytes;
  }
  // Of the first one. Those of others may lie otherwise.
  std::size_t places_of_a_copy(const cuda::ZstdUnitPlaces& places) const {
    return places.first(bytes_.size(), static_cast<std::uint32_t>(parts_of_a_copy()));
  }

  bool is_right(const Bytes& expected, const std::vector<std::uint32_t>& sizes, std::size_t first_copy,
                const DeviceArray<std::byte>& d_output, const std::vector<std::byte*>& targets,
                std::size_t room) const {
    // Checksums of what was written: all copies are the first one.
    const DeviceArray<std::size_t> d_sizes(std::vector<std::size_t>(sizes.begin(), sizes.end()));
    const DeviceArray<const std::byte*> d_written(
        std::vector<const std::byte*>(targets.begin(), targets.end()));
    const DeviceArray<std::uint32_t> d_checksums(sizes.size());
    cuda::crc32_spans_cuda(d_written.data, d_sizes.data, sizes.size(), d_checksums.data, nullptr);
    const std::vector<std::uint32_t> checksums = d_checksums.download(0, sizes.size());
    std::vector<std::pair<std::uint32_t, std::uint32_t>> blocks;
    for (std::size_t i = 0; i < sizes.size(); ++i)
      if (sizes[i] != 0) blocks.emplace_back(sizes[i], checksums[i]);
    const std::size_t of_a_copy = blocks.size() / copies_;
    if (blocks.size() % copies_ != 0) return false;
    for (std::size_t i = of_a_copy; i < blocks.size(); ++i)
      if (blocks[i] != blocks[i % of_a_copy]) return false;

    const std::vector<std::byte> rooms = d_output.download(0, first_copy * room);
    Bytes data;
    for (std::size_t i = 0; i < first_copy; ++i)
      data.insert(data.end(), rooms.begin() + static_cast<std::ptrdiff_t>(i * room),
                  rooms.begin() + static_cast<std::ptrdiff_t>(i * room + sizes[i]));
    if (expected.size() > data.size() ||
        !std::ranges::equal(expected, std::span(data).first(expected.size())))
      return false;

    Bytes frame(kZstdMostHeaderBytes);
    frame.resize(
        write_zstd_header({.window_bytes = kFarWindowBytes, .content_bytes = bytes_.size()}, frame.data()));
    frame.insert(frame.end(), data.begin(), data.end());
    frame.insert(frame.end(), kZstdEndOfBlocks.begin(), kZstdEndOfBlocks.end());
    Bytes restored(bytes_.size());
    return ZSTD_decompress(restored.data(), restored.size(), frame.data(), frame.size()) == bytes_.size() &&
           restored == bytes_;
  }

  std::string file_;
  const Bytes& bytes_;
  std::size_t copies_, total_;
  DeviceArray<std::byte> d_input_;
  DeviceArray<DeviceBlock> d_parts_;
  DeviceBlocks batch_;
};

int run(int argc, char** argv) {
  if (argc < 2 || argc > 4) {
    std::fprintf(stderr, "zstd_compress_device_bench FOLDER [GIGABYTES [135at]]\n");
    return 1;
  }
  const auto in_flight = static_cast<std::size_t>((argc > 2 ? std::atof(argv[2]) : 1) * 1e9);
  const std::string wanted = argc > 3 ? argv[3] : "135at";
  std::vector<Bytes> files;
  for (const char* const file : kFiles)
    files.push_back(testing::read_file(std::string(argv[1]) + "/silesia/" + file, std::size_t{1} << 30));
  const std::vector<Turn> turns = turns_of(wanted);
  Twins twins(files, turns);
  KernelTotals totals;
  for (const Turn& turn : turns)
    for (std::size_t i = 0; i < files.size(); ++i) {
      const Parts parts(kFiles[i], files[i],
                        static_cast<std::size_t>(turn.share * static_cast<double>(in_flight)));
      for (const int level : turn.levels) parts.compress(level, turn.runs, twins, totals);
    }
  totals.print();
  return 0;
}

}  // namespace
}  // namespace hemstitch

int main(int argc, char** argv) {
  try {
    return hemstitch::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "zstd_compress_device_bench: %s\n", error.what());
    return 1;
  }
}
