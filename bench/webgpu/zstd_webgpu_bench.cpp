// Speed of restoring Zstandard through WebGPU on real files: one batch of frames that is already on the device.
//
// Each of three Silesia files is repeated to TOTAL_MB, in blocks of 64 KB and of 1 MB, each of which libzstd compresses to a frame. The
// batch is restored (timestamps around every pass; the median of RUNS after one that warms up) and compared with the file. Prints one
// JSON row on each line of standard output, as in bench/results, and the times of passes on standard error.
//
//   zstd_webgpu_bench CORPORA [TOTAL_MB [RUNS [LEVEL...]]]      default: 128 MB, 5 runs, levels 3 and 19
#include <tbb/parallel_for.h>

#include <nlohmann/json.hpp>

#include "format/restore_status_webgpu.hpp"
#include "format/zstd/restore/zstd_restore_webgpu.hpp"
#include "gpu/device_names.hpp"
#include "gpu/webgpu/devices.hpp"
#include "shapes.hpp"
#include "webgpu_timing.hpp"
#include "zstd_frames.hpp"

namespace hemstitch {
namespace {

using namespace webgpu;
using bench::require;
using testing::Bytes;
using Json = nlohmann::ordered_json;

constexpr std::uint32_t kBlockSizes[] = {64 << 10, 1 << 20};
constexpr const char* kFiles[] = {"dickens", "samba", "nci"};

struct Setting {
  int runs = 5;
  std::string file;
  int level = 0;
  std::uint32_t block_bytes = 0;
};

std::vector<std::span<const std::byte>> blocks_of(const Bytes& data, std::uint32_t block_bytes) {
  std::vector<std::span<const std::byte>> blocks;
  for (std::size_t at = 0; at < data.size(); at += block_bytes)
    blocks.push_back(std::span(data).subspan(at, std::min<std::size_t>(block_bytes, data.size() - at)));
  return blocks;
}

void restore(Device& device, const Bytes& data, const Setting& setting) {
  const std::vector<std::span<const std::byte>> blocks = blocks_of(data, setting.block_bytes);
  std::vector<Bytes> frames(blocks.size());
  tbb::parallel_for(std::size_t{0}, blocks.size(), [&](std::size_t i) {
    frames[i] = testing::written_by_libzstd(blocks[i], {.level = setting.level, .checksum = false});
  });
  ZstdRestoreTable table;
  Bytes packed;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto content = std::span(frames[i]).subspan(4 + zstd_header_rest_bytes(frames[i][4]));
    table.add(0, static_cast<std::uint32_t>(content.size()), static_cast<std::uint32_t>(blocks[i].size()));
    packed.resize(table.rows[i].begin);
    packed.insert(packed.end(), content.begin(), content.end());
  }
  packed.resize(divided_up(packed.size(), 4) * 4);
  const ZstdRestorePlan plan = plan_zstd_restore(table);
  const BufferSet buffers = device.make_buffers(plan.buffers);
  device.write(buffers[plan.data.index], packed);
  device.write(buffers[plan.rows.index], std::as_bytes(std::span(table.rows)));
  std::string clock;
  const double seconds = bench::measure(
      device, record_zstd_restore(plan, table), buffers, setting.runs,
      fmt::format("{} level {}, {} KB, restore", setting.file, setting.level, setting.block_bytes >> 10),
      clock);

  std::vector<ZstdRestoreState> states(blocks.size());
  device.read(buffers[plan.results.index], std::as_writable_bytes(std::span(states)));
  Bytes back(table.output_bytes);
  device.read(buffers[plan.output.index], back);
  for (std::size_t i = 0; i < blocks.size(); ++i)
    require(restore_status(states[i].status) == Status::kOk && states[i].restored_bytes == blocks[i].size() &&
                std::ranges::equal(std::span(back).subspan(table.rows[i].output_begin, blocks[i].size()),
                                   blocks[i]),
            "a frame is not restored to what it was");
  const Json row{{"what", "restore"},
                 {"backend", "webgpu"},
                 {"format", "zstd"},
                 {"level", setting.level},
                 {"block_bytes", setting.block_bytes},
                 {"file", setting.file},
                 {"bytes", data.size()},
                 {"ratio", double(data.size()) / double(packed.size())},
                 {"gbps", double(data.size()) / seconds * 1e-9},
                 {"span", "kernel"},
                 {"clock", clock},
                 {"verified", true}};
  fmt::print("{}\n", row.dump());
  std::fflush(stdout);
}

int run(int argument_count, char** arguments) {
  if (argument_count < 2) {
    fmt::print(stderr, "zstd_webgpu_bench CORPORA [TOTAL_MB [RUNS [LEVEL...]]]\n");
    return 1;
  }
  const std::size_t total_bytes = (argument_count > 2 ? std::strtoull(arguments[2], nullptr, 10) : 128) << 20;
  Setting setting;
  if (argument_count > 3) setting.runs = std::atoi(arguments[3]);
  std::vector<int> levels;
  for (int i = 4; i < argument_count; ++i) levels.push_back(std::atoi(arguments[i]));
  if (levels.empty()) levels = {3, 19};
  const std::shared_ptr<Device> device = open_device(wanted_device({}));
  fmt::print(stderr, "{}, {}, timestamps: {}\n", device->adapter().name, device->adapter().driver,
             device->has_timestamps());
  for (const char* name : kFiles) {
    const Bytes file = testing::read_file(std::filesystem::path(arguments[1]) / "silesia" / name);
    Bytes data;
    while (data.size() < total_bytes) data.insert(data.end(), file.begin(), file.end());
    data.resize(total_bytes);
    setting.file = name;
    for (const std::uint32_t block_bytes : kBlockSizes)
      for (const int level : levels) {
        setting.level = level;
        setting.block_bytes = block_bytes;
        restore(*device, data, setting);
      }
  }
  return 0;
}

}  // namespace
}  // namespace hemstitch

int main(int argument_count, char** arguments) {
  try {
    return hemstitch::run(argument_count, arguments);
  } catch (const std::exception& error) {
    fmt::print(stderr, "zstd_webgpu_bench: {}\n", error.what());
    return 1;
  }
}
