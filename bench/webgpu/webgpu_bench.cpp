// Speed of the WebGPU backend on real files: each pass on the device, whole batches, and streams with their
// transfers.
//
// Each file is repeated to TOTAL_MB (1024, so that a ring has many batches), in blocks of 64 KB, at levels 3
// and 1 or those given; at the first level also in blocks of 4 MB. It compresses and restores one batch that
// is already on the device (timestamps around every pass; the median of RUNS behind half a second of runs that warm up),
// streams all of it through the engine's ring with a thread for each slot, and measures one block of 256 KB
// from call to result. liblz4 verifies everything. Prints one JSON row on each line of standard output, as in
// bench/results. Standard error has the times of passes, and for streams the times that batches took for
// upload, work and download, with the ring's slots and with twice as many.
//
//   webgpu_bench CORPORA [TOTAL_MB [RUNS [LEVEL...]]]
#include <fmt/format.h>
#include <lz4.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/status.hpp"
#include "core/time_line.hpp"
#include "engine/webgpu/webgpu_engine.hpp"
#include "format/lz4/compress/lz4_compress_webgpu.hpp"
#include "format/lz4/restore/lz4_restore_webgpu.hpp"
#include "gpu/device_names.hpp"
#include "gpu/webgpu/device.hpp"
#include "gpu/webgpu/devices.hpp"
#include "shapes.hpp"
#include "webgpu_timing.hpp"

namespace hemstitch {
namespace {

using namespace webgpu;
using bench::Clock;
using bench::measure;
using bench::median;
using bench::require;
using bench::seconds_since;
using testing::Bytes;
using Json = nlohmann::ordered_json;

constexpr std::size_t kBlockBytes = 65536;
// The block size of the tool `lz4`.
constexpr std::size_t kLargeBlockBytes = std::size_t{4} << 20;
constexpr const char* kFiles[] = {"silesia/dickens", "silesia/samba"};

struct Setting {
  int runs = 5;
  std::string file;
  int level = 0;
};

std::string name_of(const Setting& setting, const char* what, std::size_t block_bytes) {
  return fmt::format("{} level {} {}, {} KB", setting.file, setting.level, what, block_bytes >> 10);
}

void print_row(const Setting& setting, const char* what, std::size_t block_bytes, double ratio, double gbps,
               const char* span, const std::string& clock) {
  Json row{{"what", what},
           {"backend", "webgpu"},
           {"format", "lz4"},
           {"level", setting.level},
           {"block_bytes", block_bytes},
           {"file", setting.file},
           {"ratio", ratio},
           {"gbps", gbps},
           {"span", span},
           {"clock", clock},
           {"verified", true}};
  fmt::print("{}\n", row.dump());
  std::fflush(stdout);
}

void bench_batch(Device& device, const Bytes& data, std::size_t block_bytes, const Setting& setting) {
  const Lz4Level level = lz4_level(setting.level, block_bytes);
  BlockTable table;
  for (std::size_t at = 0; at < data.size(); at += block_bytes) {
    const auto bytes = static_cast<std::uint32_t>(std::min(block_bytes, data.size() - at));
    table.add(static_cast<std::uint32_t>(at), 0, bytes, bytes - 1, 4);
  }
  const auto block_count = static_cast<std::uint32_t>(table.rows.size());
  const Lz4CompressPlan plan = plan_lz4_compress(table, divided_up(data.size(), 4) * 4, level);
  std::vector<std::uint32_t> sizes(block_count), begins(block_count + 1);
  Bytes output;
  {
    const BufferSet buffers = device.make_buffers(plan.buffers);
    device.write(buffers[plan.batch.data.index], data);
    device.write(buffers[plan.batch.rows.index], std::as_bytes(std::span(table.rows)));
    device.write(buffers[plan.batch.tiles.index], std::as_bytes(std::span(table.tiles)));
    std::string clock;
    const double seconds = measure(device, record_lz4_compress(plan, table, level, data.size()), buffers,
                                   setting.runs, name_of(setting, "compress", block_bytes), clock);
    device.read(buffers[plan.sizes.index], std::as_writable_bytes(std::span(sizes)));
    device.read(buffers[plan.begins.index], std::as_writable_bytes(std::span(begins)));
    output.resize(begins.back());
    device.read(buffers[plan.output.index], output);

    std::size_t output_bytes = 0;
    Bytes back(block_bytes);
    for (std::uint32_t i = 0; i < block_count; ++i) {
      const BlockRow& row = table.rows[i];
      if (sizes[i] == kEncodedTooLarge) {
        output_bytes += row.block_bytes;
        continue;
      }
      output_bytes += sizes[i];
      const int got = LZ4_decompress_safe(reinterpret_cast<const char*>(output.data() + begins[i]),
                                          reinterpret_cast<char*>(back.data()), static_cast<int>(sizes[i]),
                                          static_cast<int>(back.size()));
      require(got == static_cast<int>(row.block_bytes) &&
                  std::equal(back.begin(), back.begin() + got, data.begin() + row.begin),
              "liblz4 does not restore a block");
    }
    print_row(setting, "compress", block_bytes, double(data.size()) / double(output_bytes),
              double(data.size()) / seconds * 1e-9, "kernel", clock);
  }

  Lz4RestoreTable restore_table;
  std::vector<std::uint32_t> restored;  // indices of the blocks that were not stored
  std::uint64_t raw_bytes = 0;
  for (std::uint32_t i = 0; i < block_count; ++i)
    if (sizes[i] != kEncodedTooLarge) {
      restore_table.add(0, sizes[i], table.rows[i].block_bytes);
      restored.push_back(i);
      raw_bytes += table.rows[i].block_bytes;
    }
  const Lz4RestorePlan restore_plan = plan_lz4_restore(restore_table);
  const BufferSet buffers = device.make_buffers(restore_plan.buffers);
  Bytes packed(restore_table.data_bytes);
  for (std::size_t k = 0; k < restored.size(); ++k)
    std::copy_n(output.begin() + begins[restored[k]], sizes[restored[k]],
                packed.begin() + restore_table.rows[k].begin);
  device.write(buffers[restore_plan.data.index], packed);
  device.write(buffers[restore_plan.rows.index], std::as_bytes(std::span(restore_table.rows)));
  std::string clock;
  const double seconds = measure(device, record_lz4_restore(restore_plan, restore_table), buffers,
                                 setting.runs, name_of(setting, "restore", block_bytes), clock);
  Bytes back(restore_table.output_bytes);
  device.read(buffers[restore_plan.output.index], back);
  for (std::size_t k = 0; k < restored.size(); ++k) {
    const BlockRow& row = table.rows[restored[k]];
    require(std::equal(data.begin() + row.begin, data.begin() + row.begin + row.block_bytes,
                       back.begin() + restore_table.rows[k].output_begin),
            "a block is not restored to what it was");
  }
  print_row(setting, "restore", block_bytes, double(raw_bytes) / double(packed.size()),
            double(raw_bytes) / seconds * 1e-9, "kernel", clock);
}

// Passes batches to `threads` threads, in order.
void in_threads(unsigned threads, std::size_t batch_count, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  std::vector<std::thread> all;
  for (unsigned t = 0; t < threads; ++t)
    all.emplace_back([&] {
      for (std::size_t batch; (batch = next++) < batch_count;) work(batch);
    });
  for (std::thread& thread : all) thread.join();
}

// Streams through a ring with so many slots. `rows`: prints rows, not only the time lines.
void bench_stream(const std::shared_ptr<Device>& device, const Bytes& data, std::size_t block_bytes,
                  unsigned slot_count, bool rows, const Setting& setting) {
  const auto engine = make_engine(device, {.slot_count = slot_count});
  EncodeParameters parameters;
  parameters.level = setting.level;
  parameters.block_bytes = block_bytes;
  std::vector<BlockTask> tasks;
  Bytes output(data.size()), back(data.size());
  for (std::size_t at = 0; at < data.size(); at += block_bytes) {
    BlockTask task;
    task.input = std::span(data).subspan(at, std::min(block_bytes, data.size() - at));
    task.output = std::span(output).subspan(at, task.input.size() - 1);
    tasks.push_back(task);
  }
  const std::size_t per_batch = std::max<std::size_t>(1, engine->preferred_batch_bytes() / block_bytes);
  const auto batches_of = [&](const std::vector<BlockTask>& all) {
    return static_cast<std::size_t>(divided_up(all.size(), per_batch));
  };
  const auto of_batch = [&](std::vector<BlockTask>& all, std::size_t batch) {
    return std::span(all).subspan(batch * per_batch, std::min(per_batch, all.size() - batch * per_batch));
  };
  struct Direction {
    std::vector<double> seconds;
    std::string last_time_line;
  };
  const auto timed = [&](Direction& direction, std::size_t batches, bool counts, const auto& work) {
    TimeLine line;
    engine->keep_time(line);
    const auto begin = Clock::now();
    in_threads(slot_count, batches, work);
    if (counts) direction.seconds.push_back(seconds_since(begin));
    direction.last_time_line = line.report().text();
  };
  Direction compress, restore;
  std::size_t output_bytes = 0;
  for (int run = 0; run <= setting.runs; ++run) {
    timed(compress, batches_of(tasks), run > 0,
          [&](std::size_t batch) { engine->compress(of_batch(tasks, batch), parameters); });

    std::vector<BlockTask> back_tasks;
    output_bytes = 0;
    for (const BlockTask& task : tasks) {
      const auto at = static_cast<std::size_t>(task.input.data() - data.data());
      if (task.status == Status::kOutputTooSmall) {
        std::copy(task.input.begin(), task.input.end(), back.begin() + static_cast<std::ptrdiff_t>(at));
        output_bytes += task.input.size();
        continue;
      }
      require(task.status == Status::kOk, "a block was not compressed");
      output_bytes += task.output_bytes;
      BlockTask one;
      one.input = task.output.first(task.output_bytes);
      one.output = std::span(back).subspan(at, task.input.size());
      back_tasks.push_back(one);
    }
    timed(restore, batches_of(back_tasks), run > 0,
          [&](std::size_t batch) { engine->restore(of_batch(back_tasks, batch), Format::kLz4); });
    require(back == data, "the stream is not restored to what it was");
    std::fill(back.begin(), back.end(), std::byte{0});
  }
  const double ratio = double(data.size()) / double(output_bytes);
  for (const auto& [what, direction] : {std::pair("compress", &compress), std::pair("restore", &restore)}) {
    const double gbps = double(data.size()) / median(direction->seconds) * 1e-9;
    fmt::print(stderr, "{}: {:.2f} GB/s as a stream through {} slots; {}\n",
               name_of(setting, what, block_bytes), gbps, slot_count, direction->last_time_line);
    if (rows) print_row(setting, what, block_bytes, ratio, gbps, "pinned", "host");
  }
}

void bench_latency(const std::shared_ptr<Device>& device, const Bytes& data, const Setting& setting) {
  const auto engine = make_engine(device);
  EncodeParameters parameters;
  parameters.level = setting.level;
  parameters.block_bytes = 262144;
  Bytes output(parameters.block_bytes), back(parameters.block_bytes);
  BlockTask task;
  task.input = std::span(data).first(parameters.block_bytes);
  task.output = output;
  std::vector<double> compress_seconds, restore_seconds;
  for (int run = 0; run <= 4 * setting.runs; ++run) {
    auto begin = Clock::now();
    engine->compress({&task, 1}, parameters);
    if (run > 0) compress_seconds.push_back(seconds_since(begin));
    require(task.status == Status::kOk, "the block was not compressed");
    BlockTask one;
    one.input = task.output.first(task.output_bytes);
    one.output = back;
    begin = Clock::now();
    engine->restore({&one, 1}, Format::kLz4);
    if (run > 0) restore_seconds.push_back(seconds_since(begin));
    require(one.status == Status::kOk && std::equal(back.begin(), back.end(), data.begin()),
            "the block is not restored to what it was");
  }
  fmt::print(stderr, "{} level {} 256 KB from call to result: compress {:.3f} ms, restore {:.3f} ms\n",
             setting.file, setting.level, 1e3 * median(compress_seconds), 1e3 * median(restore_seconds));
  const double ratio = double(task.input.size()) / double(task.output_bytes);
  print_row(setting, "compress", parameters.block_bytes, ratio,
            double(parameters.block_bytes) / median(compress_seconds) * 1e-9, "call", "host");
  print_row(setting, "restore", parameters.block_bytes, ratio,
            double(parameters.block_bytes) / median(restore_seconds) * 1e-9, "call", "host");
}

int run(int argument_count, char** arguments) {
  if (argument_count < 2) {
    fmt::print(stderr, "webgpu_bench CORPORA [TOTAL_MB [RUNS [LEVEL...]]]\n");
    return 1;
  }
  const std::size_t total_bytes = (argument_count > 2 ? std::strtoull(arguments[2], nullptr, 10) : 1024)
                                  << 20;
  Setting setting;
  if (argument_count > 3) setting.runs = std::atoi(arguments[3]);
  std::vector<int> levels;
  for (int i = 4; i < argument_count; ++i) levels.push_back(std::atoi(arguments[i]));
  if (levels.empty()) levels = {3, 1};
  const std::shared_ptr<Device> device = open_device(wanted_device({}));
  fmt::print(stderr, "{}, {}, timestamps: {}\n", device->adapter().name, device->adapter().driver,
             device->has_timestamps());
  for (const char* name : kFiles) {
    const Bytes file = testing::read_file(std::filesystem::path(arguments[1]) / name);
    Bytes data;
    while (data.size() < total_bytes) data.insert(data.end(), file.begin(), file.end());
    data.resize(total_bytes);
    setting.file = std::filesystem::path(name).filename();
    const std::size_t batch_bytes = std::min(total_bytes, make_engine(device)->preferred_batch_bytes());
    for (const int level : levels) {
      setting.level = level;
      const Bytes batch(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(batch_bytes));
      for (const std::size_t block_bytes : {kBlockBytes, kLargeBlockBytes}) {
        if (block_bytes != kBlockBytes && (level != levels.front() || batch_bytes < 4 * block_bytes))
          continue;
        bench_batch(*device, batch, block_bytes, setting);
        bench_stream(device, data, block_bytes, kSlotCount, true, setting);
        bench_stream(device, data, block_bytes, 2 * kSlotCount, false, setting);
      }
      bench_latency(device, data, setting);
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
    fmt::print(stderr, "webgpu_bench: {}\n", error.what());
    return 1;
  }
}
