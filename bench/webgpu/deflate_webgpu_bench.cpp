// Speed of DEFLATE through WebGPU on real files: one batch that is already on the device, as in BGZF.
//
// Each of three Silesia files is repeated to TOTAL_MB, in blocks of 65,280 bytes. The batch is compressed at
// each level, and the result restored (timestamps around every pass; the median of RUNS after one that warms
// up). zlib also restores every block. Prints one JSON row on each line of standard output, as in
// bench/results, and the times of passes on standard error.
//
//   deflate_webgpu_bench CORPORA [TOTAL_MB [RUNS [LEVEL...]]]      default: 128 MB, 5 runs, levels 1, 6 and 9
#include <tbb/parallel_for.h>

#include <atomic>
#include <nlohmann/json.hpp>

#include "format/deflate/compress/deflate_compress_webgpu.hpp"
#include "format/deflate/restore/deflate_restore_webgpu.hpp"
#include "gpu/device_names.hpp"
#include "gpu/webgpu/devices.hpp"
#include "shapes.hpp"
#include "webgpu_timing.hpp"
#include "zlib_oracle.hpp"

namespace hemstitch {
namespace {

using namespace webgpu;
using bench::require;
using testing::Bytes;
using Json = nlohmann::ordered_json;

constexpr std::uint32_t kBlockBytes = 65280;
constexpr const char* kFiles[] = {"dickens", "samba", "nci"};

struct Setting {
  int runs = 5;
  std::string file;
  int level = 0;
};

void print_row(const Setting& setting, const char* what, std::size_t bytes, double ratio, double seconds,
               const std::string& clock) {
  const Json row{{"what", what},
                 {"backend", "webgpu"},
                 {"format", "bgzf"},
                 {"level", setting.level},
                 {"block_bytes", kBlockBytes},
                 {"file", setting.file},
                 {"bytes", bytes},
                 {"ratio", ratio},
                 {"gbps", double(bytes) / seconds * 1e-9},
                 {"span", "kernel"},
                 {"clock", clock},
                 {"verified", true}};
  fmt::print("{}\n", row.dump());
  std::fflush(stdout);
}

void write_words(Device& device, const BufferSet& buffers, BufferId buffer, const auto& elements) {
  device.write(buffers[buffer.index], std::as_bytes(std::span(elements)));
}

// Compresses the blocks of the data to streams.
std::vector<Bytes> compress(Device& device, const Bytes& data, const Setting& setting) {
  const DeflateLevel level = deflate_level(setting.level);
  const auto room = static_cast<std::uint32_t>(deflate_data_room(kBlockBytes));
  DeflateCompressTable table;
  std::uint64_t output_bytes = 0;
  for (std::size_t at = 0; at < data.size(); at += kBlockBytes) {
    table.add(static_cast<std::uint32_t>(at), 0,
              static_cast<std::uint32_t>(std::min<std::size_t>(kBlockBytes, data.size() - at)), room);
    output_bytes += divided_up(room, 4) * 4;
  }
  const DeflateCompressPlan plan = plan_deflate_compress(table, output_bytes, level);
  const BufferSet buffers = device.make_buffers(plan.buffers);
  device.write(buffers[plan.blocks.data.index], data);
  write_words(device, buffers, plan.blocks.rows, table.blocks.rows);
  write_words(device, buffers, plan.blocks.tiles, table.blocks.tiles);
  write_words(device, buffers, plan.chunks.rows, table.chunks.rows);
  write_words(device, buffers, plan.chunks.tiles, table.chunks.tiles);
  write_words(device, buffers, plan.block_chunks, table.block_chunks);
  write_words(device, buffers, plan.pieces, table.pieces);
  std::string clock;
  const double seconds = bench::measure(
      device, record_deflate_compress(plan, table, level, DeflateEnd::kFinal, output_bytes), buffers,
      setting.runs, fmt::format("{} level {} compress", setting.file, setting.level), clock);

  const std::size_t count = table.blocks.rows.size();
  std::vector<std::uint32_t> sizes(count), begins(count + 1);
  device.read(buffers[plan.sizes.index], std::as_writable_bytes(std::span(sizes)));
  device.read(buffers[plan.begins.index], std::as_writable_bytes(std::span(begins)));
  Bytes output(begins.back());
  device.read(buffers[plan.output.index], output);
  std::vector<Bytes> streams(count);
  std::size_t stream_bytes = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto stream = std::span(output).subspan(begins[i], sizes[i]);
    streams[i].assign(stream.begin(), stream.end());
    stream_bytes += stream.size();
  }
  std::atomic<bool> right = true;
  tbb::parallel_for(std::size_t{0}, count, [&](std::size_t i) {
    const BlockRow& row = table.blocks.rows[i];
    const auto restored = testing::inflated_by_zlib(streams[i], testing::ZlibKind::kDeflate);
    if (!restored || !std::ranges::equal(*restored, std::span(data).subspan(row.begin, row.block_bytes)))
      right = false;
  });
  require(right, "zlib does not restore a block");
  print_row(setting, "compress", data.size(), double(data.size()) / double(stream_bytes), seconds, clock);
  return streams;
}

void restore(Device& device, const std::vector<Bytes>& streams, const Bytes& data, const Setting& setting) {
  DeflateRestoreTable table;
  Bytes packed;
  for (std::size_t i = 0; i < streams.size(); ++i) {
    table.add(0, static_cast<std::uint32_t>(streams[i].size()),
              static_cast<std::uint32_t>(std::min<std::size_t>(kBlockBytes, data.size() - i * kBlockBytes)));
    packed.resize(table.rows[i].begin);
    packed.insert(packed.end(), streams[i].begin(), streams[i].end());
  }
  packed.resize(divided_up(packed.size(), 4) * 4);
  const std::size_t stream_bytes = packed.size();
  const DeflateRestorePlan plan = plan_deflate_restore(table);
  const BufferSet buffers = device.make_buffers(plan.buffers);
  device.write(buffers[plan.data.index], packed);
  write_words(device, buffers, plan.rows, table.rows);
  std::string clock;
  const double seconds =
      bench::measure(device, record_deflate_restore(plan, table), buffers, setting.runs,
                     fmt::format("{} level {} restore", setting.file, setting.level), clock);
  Bytes back(table.output_bytes);
  device.read(buffers[plan.output.index], back);
  for (std::size_t i = 0; i < streams.size(); ++i)
    require(std::ranges::equal(std::span(back).subspan(table.rows[i].output_begin, table.rows[i].room_bytes),
                               std::span(data).subspan(i * kBlockBytes, table.rows[i].room_bytes)),
            "a block is not restored to what it was");
  print_row(setting, "restore", data.size(), double(data.size()) / double(stream_bytes), seconds, clock);
}

int run(int argument_count, char** arguments) {
  if (argument_count < 2) {
    fmt::print(stderr, "deflate_webgpu_bench CORPORA [TOTAL_MB [RUNS [LEVEL...]]]\n");
    return 1;
  }
  const std::size_t total_bytes = (argument_count > 2 ? std::strtoull(arguments[2], nullptr, 10) : 128) << 20;
  Setting setting;
  if (argument_count > 3) setting.runs = std::atoi(arguments[3]);
  std::vector<int> levels;
  for (int i = 4; i < argument_count; ++i) levels.push_back(std::atoi(arguments[i]));
  if (levels.empty()) levels = {1, 6, 9};
  const std::shared_ptr<Device> device = open_device(wanted_device({}));
  fmt::print(stderr, "{}, {}, timestamps: {}\n", device->adapter().name, device->adapter().driver,
             device->has_timestamps());
  for (const char* name : kFiles) {
    const Bytes file = testing::read_file(std::filesystem::path(arguments[1]) / "silesia" / name);
    Bytes data;
    while (data.size() < total_bytes) data.insert(data.end(), file.begin(), file.end());
    data.resize(total_bytes);
    setting.file = name;
    for (const int level : levels) {
      setting.level = level;
      restore(*device, compress(*device, data, setting), data, setting);
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
    fmt::print(stderr, "deflate_webgpu_bench: {}\n", error.what());
    return 1;
  }
}
