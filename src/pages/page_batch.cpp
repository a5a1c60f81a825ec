// Batches of pages. The processor takes them in runs of a few pages; a device takes pieces, several at once.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include "core/device_failures.hpp"
#include "core/options.hpp"
#include "core/overlap.hpp"
#include "core/parallel.hpp"
#include "core/time_line.hpp"
#include "engine/registry.hpp"
#include "hemstitch/pages.hpp"
#include "pages/page_codec.hpp"
#include "pages/page_counts.hpp"

namespace hemstitch {
namespace {

// The smallest piece for a device. Its kernels take as long for half as many pages.
constexpr std::size_t kPiecePages = 512;

}  // namespace

struct PageBuffer::Impl {
  std::unique_ptr<BlockEngine> engine;  // outlives its memory
  LargeBuffer memory;
  std::size_t bytes = 0;
};

PageBuffer::PageBuffer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
PageBuffer::~PageBuffer() = default;
PageBuffer::PageBuffer(PageBuffer&&) noexcept = default;
PageBuffer& PageBuffer::operator=(PageBuffer&&) noexcept = default;
std::span<std::byte> PageBuffer::bytes() const { return {impl_->memory.get(), impl_->bytes}; }

struct PageBatch::Impl {
  explicit Impl(const PageBatchOptions& wanted)
      : options((check_page_options(wanted), wanted)),
        codec(options.page_bytes, options.level),
        threads(resolve_threads(options.threads)) {
    const BackendRegistry& registry = BackendRegistry::instance();
    if (!registry.leaves_choice(options.backend))
      fixed = &registry.choose(options.backend, options.device, work(0));
  }

  Workload work(std::uint64_t pages, Direction direction = Direction::kCompress) const {
    return {.direction = direction,
            .format = Format::kLz4,
            .level = options.level,
            .content_bytes = pages * options.page_bytes,
            .threads = options.threads,
            .pages = true};
  }

  // The backend for a batch. A device that is not started yet must also make up for its start, by all pages that have come so far.
  // Pages that a caller only asked about count too, since the caller works on them.
  const Backend& backend_for(std::uint64_t pages, Direction direction) {
    const BackendRegistry& registry = BackendRegistry::instance();
    if (fixed != nullptr) return *fixed;
    const std::uint64_t so_far = seen_pages.fetch_add(pages, std::memory_order_relaxed) + pages;
    if (pages < kLeastDevicePages || failures.is_dropped()) return registry.find_usable("cpu");
    const Backend& now = registry.choose(options.backend, options.device, work(pages, direction));
    if (now.name() != "cpu") return now;
    const Backend& later = registry.choose(options.backend, options.device, work(so_far, direction));
    return later.is_started() ? now : later;
  }

  // An engine of the chosen backend for one batch. Null if the processor is to do the work, also because the device did not start.
  std::unique_ptr<BlockEngine> engine_for(std::uint64_t pages, Direction direction, PageBatchReport& report) {
    const Backend& backend = backend_for(pages, direction);
    if (backend.name() == "cpu") return nullptr;
    if (failures.is_dropped()) {
      note_failure(report, pages, fmt::format("{} failed before", backend.name()));
      return nullptr;
    }
    try {
      std::unique_ptr<BlockEngine> engine = backend.make_engine(options.device);
      report.backend = backend.name();
      return engine;
    } catch (const Error& error) {
      if (!is_device_failure(error)) throw;
      failures.count();
      note_failure(report, pages, error.what());
      return nullptr;
    }
  }

  void note_failure(PageBatchReport& report, std::uint64_t pages, const std::string& reason) {
    const std::scoped_lock lock(report_mutex);
    if (report.fallback_reason.empty()) report.fallback_reason = reason;
    report.fallback_pages += pages;
  }

  // Runs work(first, end) for pieces of the pages. For a device it runs several at once, so that one piece goes
  // up while another is worked on and a third comes down.
  template <class Work>
  void in_pieces(BlockEngine& engine, std::size_t pages, const Work& work) {
    const std::size_t in_flight = std::max(1U, engine.preferred_batches_in_flight(threads));
    const std::size_t most = std::max<std::size_t>(1, engine.preferred_batch_bytes() / options.page_bytes);
    // No other piece is worked on while the first goes up and the last comes down, so pieces are small: two for each place.
    const std::size_t places = in_flight == 1 ? 1 : 2 * in_flight;
    const std::size_t piece = std::min(most, std::max((pages + places - 1) / places, kPiecePages));
    const std::size_t pieces = (pages + piece - 1) / piece;
    for_pieces(static_cast<unsigned>(std::min(pieces, in_flight)), pieces, 1,
               [&](std::size_t i) { work(i * piece, std::min(pages, (i + 1) * piece)); });
  }

  // False if the device failed, and the processor has to do these pages.
  template <class Call>
  bool tried(PageBatchReport& report, std::uint64_t pages, const Call& call) {
    try {
      call();
      return true;
    } catch (const Error& error) {
      // Options are checked. So a backend that refuses them has no kernel for such pages, but may restore them.
      const bool is_refusal = error.status() == Status::kInvalidOption;
      if (!is_refusal && !is_device_failure(error)) throw;
      if (!is_refusal) failures.count();
      note_failure(report, pages, error.what());
      return false;
    }
  }

  static void tell_times(PageBatchReport& report, const TimeLine& line, bool has_clock) {
    const TimeReport times = line.report();
    report.seconds = line.now();
    report.cpu_seconds = report.seconds;
    if (report.backend == "cpu") return;
    report.upload_seconds = times.of(Stage::kUpload).wall_seconds;
    report.kernel_seconds = times.of(Stage::kKernel).wall_seconds;
    report.download_seconds = times.of(Stage::kDownload).wall_seconds;
    if (!has_clock) return;
    CoveredTime covered;
    for (const StageInterval& interval : times.intervals) covered.add(interval.begin, interval.end);
    report.cpu_seconds = std::max(0.0, report.seconds - covered.seconds());
  }

  void count(PageBatchReport& report, std::span<const KeptPage> entries) const {
    report.pages = entries.size();
    report.rule_takes_device = report.pages >= kPagesOfRule;
    for (const KeptPage& entry : entries) {
      if (entry.status != Status::kOk) {
        ++report.damaged;
        continue;
      }
      report.kept_bytes += entry.bytes;
      ++(entry.kind == PageKind::kCompressed ? report.compressed
         : entry.kind == PageKind::kRaw      ? report.raw
                                             : report.same_filled);
    }
  }

  // Compresses pages on the processor, each into the room of its own number.
  void compress_here(std::span<const std::byte* const> pages, std::span<std::byte> kept, KeptPage* entries,
                     std::size_t first, std::size_t end) const {
    const std::uint32_t bytes = options.page_bytes;
    std::array<BlockTask, kRunPages> tasks;
    std::array<std::size_t, kRunPages> of;
    for (std::size_t begin = first; begin < end; begin += kRunPages) {
      std::size_t count = 0;
      for (std::size_t i = begin; i < std::min(begin + kRunPages, end); ++i) {
        const std::span<const std::byte> page(pages[i], bytes);
        std::byte* const room = kept.data() + i * bytes;
        entries[i] = {.at = std::uint64_t{i} * bytes, .bytes = kPageWordBytes, .kind = PageKind::kSameFilled};
        if (same_filled(page)) {
          std::memcpy(room, page.data(), kPageWordBytes);
          continue;
        }
        tasks[count] = {.input = page, .history = {}, .output = {room, bytes - 1}};
        of[count++] = i;
      }
      codec.engine().compress(std::span(tasks).first(count), codec.parameters());
      for (std::size_t t = 0; t < count; ++t) take(tasks[t], of[t], kept, entries[of[t]]);
    }
  }

  // Compresses pages on a device. Same-filled ones go there too: pages that lie together go up in one copy, and the bus
  // would wait while the processor looks for them. Their blocks show which they are.
  void compress_there(BlockEngine& engine, std::span<const std::byte* const> pages, std::span<std::byte> kept,
                      std::span<KeptPage> entries, std::size_t first, std::size_t end,
                      PageBatchReport& report) {
    const std::uint32_t bytes = options.page_bytes;
    std::vector<BlockTask> tasks(end - first);
    for (std::size_t i = first; i < end; ++i)
      tasks[i - first] = {
          .input = {pages[i], bytes}, .history = {}, .output = kept.subspan(i * bytes, bytes - 1)};
    EncodeParameters parameters = codec.parameters();
    parameters.movable_outputs = true;
    if (!tried(report, tasks.size(), [&] { engine.compress(tasks, parameters); })) {
      compress_here(pages, kept, entries.data(), first, end);
      return;
    }
    std::array<std::byte, kPageWordBytes> word;
    for (std::size_t i = first; i < end; ++i) {
      const BlockTask& task = tasks[i - first];
      if (task.status != Status::kOk && task.status != Status::kOutputTooSmall) {
        compress_here(pages, kept, entries.data(), i, i + 1);
        note_failure(report, 1, "the device failed on pages");
        continue;
      }
      take(task, i, kept, entries[i]);
      std::byte* const block = task.output.data();
      if (entries[i].kind == PageKind::kCompressed &&
          restores_same_filled({block, entries[i].bytes}, bytes, word)) {
        std::memcpy(block, word.data(), kPageWordBytes);
        entries[i].kind = PageKind::kSameFilled;
        entries[i].bytes = kPageWordBytes;
      }
    }
  }

  // Restores the compressed pages among these on a device. The processor does the others, before it waits for the device.
  void restore_there(BlockEngine& engine, std::span<const std::byte> kept, std::span<KeptPage> entries,
                     std::span<std::byte* const> pages, std::size_t first, std::size_t end,
                     PageBatchReport& report) {
    const std::uint32_t bytes = options.page_bytes;
    std::vector<BlockTask> tasks;
    std::vector<std::size_t> of;
    tasks.reserve(end - first);
    of.reserve(end - first);
    for (std::size_t i = first; i < end; ++i) {
      if (entries[i].status != Status::kOk) continue;
      if (entries[i].kind != PageKind::kCompressed) {
        restore_here(kept, entries[i], pages[i]);
        continue;
      }
      tasks.push_back({.input = kept.subspan(entries[i].at, entries[i].bytes),
                       .history = {},
                       .output = {pages[i], bytes}});
      of.push_back(i);
    }
    const bool done = tried(report, tasks.size(), [&] { engine.restore(tasks, Format::kLz4); });
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      KeptPage& entry = entries[of[t]];
      if (done && tasks[t].status == Status::kOk) {
        entry.status = tasks[t].output_bytes == bytes ? Status::kOk : Status::kCorruptBlock;
      } else if (done && tasks[t].status == Status::kCorruptBlock) {
        entry.status = Status::kCorruptBlock;
      } else {
        restore_here(kept, entry, pages[of[t]]);
        if (done) note_failure(report, 1, "the device failed on pages");
      }
    }
  }

  // Fills the entry of a task that is done, and copies a raw page to where it is kept, unless the engine has moved it there.
  void take(const BlockTask& task, std::size_t page, std::span<std::byte> kept, KeptPage& entry) const {
    const PageForm form = PageCodec::form_of(task);
    entry.at = static_cast<std::uint64_t>(task.output.data() - kept.data());
    entry.bytes = form.bytes;
    entry.kind = form.kind;
    entry.status = Status::kOk;
    if (form.kind == PageKind::kRaw && entry.at == std::uint64_t{page} * options.page_bytes)
      std::memcpy(task.output.data(), task.input.data(), task.input.size());
  }

  void restore_here(std::span<const std::byte> kept, KeptPage& entry, std::byte* page) const {
    entry.status = codec.restore(entry.kind, kept.subspan(entry.at, entry.bytes), {page, options.page_bytes});
  }

  PageBatchOptions options;
  PageCodec codec;
  unsigned threads;
  const Backend* fixed = nullptr;  // null: chosen for each batch
  std::atomic<std::uint64_t> seen_pages = 0;
  DeviceFailures failures;  // over all batches
  std::mutex report_mutex;  // guards reports while pieces are worked on
};

PageBatch::PageBatch(const PageBatchOptions& options) : impl_(std::make_unique<Impl>(options)) {}
PageBatch::~PageBatch() = default;
PageBatch::PageBatch(PageBatch&&) noexcept = default;
PageBatch& PageBatch::operator=(PageBatch&&) noexcept = default;
const PageBatchOptions& PageBatch::options() const { return impl_->options; }

PageBuffer PageBatch::make_buffer(std::size_t bytes) const {
  auto buffer = std::make_unique<PageBuffer::Impl>();
  const Backend& backend =
      impl_->fixed != nullptr ? *impl_->fixed : BackendRegistry::instance().find_usable("cpu");
  buffer->engine = backend.make_engine(impl_->options.device);
  buffer->memory = buffer->engine->make_buffer(bytes);
  buffer->bytes = bytes;
  return PageBuffer(std::move(buffer));
}

std::string PageBatch::backend_for(Direction direction, std::uint64_t pages) const {
  return std::string(impl_->backend_for(pages, direction).name());
}

PageBatchReport PageBatch::compress(std::span<const std::byte* const> pages, std::span<std::byte> kept,
                                    std::span<KeptPage> entries) const {
  Impl& impl = *impl_;
  const std::uint32_t bytes = impl.options.page_bytes;
  if (entries.size() != pages.size())
    throw Error(Status::kInvalidOption,
                fmt::format("{} pages have {} entries; give one for each", pages.size(), entries.size()));
  if (kept.size() / bytes < pages.size())
    throw Error(Status::kOutputTooSmall, fmt::format("{} pages need room for {} bytes; there is room for {}",
                                                     pages.size(), pages.size() * bytes, kept.size()));
  if (std::ranges::find(pages, nullptr) != pages.end()) throw Error(Status::kInvalidOption, "a page is NULL");
  for (const std::byte* const page : pages) refuse_overlap({page, bytes}, kept, "`kept`", "a page");

  TimeLine line;
  PageBatchReport report;
  report.backend = "cpu";
  bool has_clock = false;
  const std::unique_ptr<BlockEngine> engine = impl.engine_for(pages.size(), Direction::kCompress, report);
  if (!engine) {
    const std::size_t runs = (pages.size() + kRunPages - 1) / kRunPages;
    for_pieces(impl.threads, runs, 1, [&](std::size_t run) {
      impl.compress_here(pages, kept, entries.data(), run * kRunPages,
                         std::min(pages.size(), (run + 1) * kRunPages));
    });
  } else {
    has_clock = engine->keep_time(line);
    impl.in_pieces(*engine, pages.size(), [&](std::size_t first, std::size_t end) {
      impl.compress_there(*engine, pages, kept, entries, first, end, report);
    });
  }
  Impl::tell_times(report, line, has_clock);
  impl.count(report, entries);
  return report;
}

PageBatchReport PageBatch::restore(std::span<const std::byte> kept, std::span<KeptPage> entries,
                                   std::span<std::byte* const> pages) const {
  Impl& impl = *impl_;
  const std::uint32_t bytes = impl.options.page_bytes;
  if (entries.size() != pages.size())
    throw Error(Status::kInvalidOption,
                fmt::format("{} pages have {} entries; give one for each", pages.size(), entries.size()));
  if (std::ranges::find(pages, nullptr) != pages.end()) throw Error(Status::kInvalidOption, "a page is NULL");
  for (const std::byte* const page : pages) refuse_overlap(kept, {page, bytes}, "a page", "`kept`");

  TimeLine line;
  PageBatchReport report;
  report.backend = "cpu";
  bool has_clock = false;
  for (KeptPage& entry : entries) {
    const bool inside = entry.at <= kept.size() && entry.bytes <= kept.size() - entry.at;
    entry.status =
        inside && legal_kept_page(entry.kind, entry.bytes, bytes) ? Status::kOk : Status::kCorruptBlock;
  }
  const std::unique_ptr<BlockEngine> engine = impl.engine_for(pages.size(), Direction::kRestore, report);
  if (!engine) {
    for_pieces(impl.threads, pages.size(), kRunPages, [&](std::size_t i) {
      if (entries[i].status == Status::kOk) impl.restore_here(kept, entries[i], pages[i]);
    });
  } else {
    has_clock = engine->keep_time(line);
    impl.in_pieces(*engine, pages.size(), [&](std::size_t first, std::size_t end) {
      impl.restore_there(*engine, kept, entries, pages, first, end, report);
    });
  }
  Impl::tell_times(report, line, has_clock);
  impl.count(report, entries);
  return report;
}

}  // namespace hemstitch
