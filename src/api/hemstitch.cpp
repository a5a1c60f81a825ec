// Implements the C++ interface with the pipeline.
#include "hemstitch/hemstitch.hpp"

#include <algorithm>
#include <array>
#include <type_traits>

#include "api/report.hpp"
#include "api/sinks.hpp"
#include "core/options.hpp"
#include "core/parallel.hpp"
#include "format/formats.hpp"
#include "format/zstd_index.hpp"
#include "hemstitch/memory.hpp"
#include "pipeline/compress_job.hpp"
#include "pipeline/gathering_sink.hpp"
#include "pipeline/restore_job.hpp"
#include "pipeline/ring.hpp"
#include "pipeline/stream.hpp"

namespace hemstitch {
namespace {

class OutputSink : public Sink {
 public:
  explicit OutputSink(Output output) : output_(std::move(output)) {
    if (!output_) throw Error(Status::kInvalidOption, "output is an empty function");
  }
  void write(std::span<const std::byte> bytes) override { output_(bytes); }

 private:
  Output output_;
};

// Works on the first `count` slots at once, then emits them in order.
template <class Job, class Slot>
void work_and_emit(Job& job, std::vector<Slot>& slots, std::size_t count, bool in_order, Sink& sink) {
  for_pieces(in_order ? 1 : job.threads(), count, 1, [&](std::size_t i) { job.work(slots[i]); });
  for (std::size_t i = 0; i < count; i++) job.emit(slots[i], sink);
}

template <class Impl>
Impl& present(const std::unique_ptr<Impl>& impl) {
  if (!impl) throw Error(Status::kWrongState, "the stream was moved to another object");
  return *impl;
}

// A stream takes no more calls once it has thrown, was finished, or was moved to another object.
class StreamState {
 public:
  template <class Call>
  void run(Call call) {
    if (!open_) throw Error(Status::kWrongState, "the stream has ended");
    open_ = false;
    call();
    open_ = true;
  }
  void close() { open_ = false; }

 private:
  bool open_ = true;
};

}  // namespace

struct Compressor::Impl {
  Impl(const CompressOptions& options, Output output)
      : job(options, {}, DeviceTime::kBeside), sink(std::move(output)), slots(job.plan().batches_in_flight) {}

  void write(std::span<const std::byte> piece) {
    while (!piece.empty()) {
      CompressSlot& slot = slots[filling];
      const auto room = job.room(slot);
      const std::size_t bytes = std::min(room.size(), piece.size());
      std::copy_n(piece.begin(), bytes, room.begin());
      job.filled(slot, bytes);
      piece = piece.subspan(bytes);
      if (!job.full(slot)) continue;
      job.seal(slot);
      if (++filling < slots.size()) continue;
      emit_sealed();
      if (job.device_is_ready()) {
        slots.clear();
        job.take_device();
        slots.resize(job.plan().batches_in_flight);
      }
    }
  }

  void emit_sealed() {
    if (!begun) job.begin(sink);
    begun = true;
    work_and_emit(job, slots, filling, false, sink);
    filling = 0;
  }

  void flush() {
    if (job.seal(slots[filling])) filling++;
    emit_sealed();
  }

  void finish() {
    flush();
    job.end(sink);
  }

  CompressJob job;
  OutputSink sink;
  std::vector<CompressSlot> slots;
  std::size_t filling = 0;  // slots before it are sealed
  bool begun = false;
  StreamState state;
};

Compressor::Compressor(const CompressOptions& options, Output output)
    : impl_(std::make_unique<Impl>(options, std::move(output))) {}
Compressor::~Compressor() = default;
Compressor::Compressor(Compressor&&) noexcept = default;
Compressor& Compressor::operator=(Compressor&&) noexcept = default;

void Compressor::write(std::span<const std::byte> piece) {
  Impl& impl = present(impl_);
  impl.state.run([&] { impl.write(piece); });
}

void Compressor::flush() {
  Impl& impl = present(impl_);
  impl.state.run([&] { impl.flush(); });
}

void Compressor::finish() {
  Impl& impl = present(impl_);
  impl.state.run([&] { impl.finish(); });
  impl.state.close();
}

Report Compressor::report() const { return public_report(present(impl_).job.report()); }

struct Decompressor::Impl {
  using Event = RestoreJob::Event;

  Impl(const RestoreOptions& options, Output output)
      : job(options, std::nullopt, {}, std::nullopt, DeviceTime::kBeside), sink(std::move(output)), slots(1) {
    refuse_used_bytes(options);
  }
  ~Impl() { job.settle(); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void write(std::span<const std::byte> piece) {
    written_bytes += piece.size();
    take_in(piece, [] { return false; });
  }

  std::size_t write_some(std::span<const std::byte> piece) {
    std::span<const std::byte> left = piece;
    take_in(left, content_comes());
    const std::size_t taken_bytes = piece.size() - left.size();
    written_bytes += taken_bytes;
    return taken_bytes;
  }

  // Takes the piece and writes all that it gives, until it stops.
  template <class Stops>
  void take_in(std::span<const std::byte>& piece, const Stops& stops) {
    gathering.pass_on_after([&] {
      do restore(piece, stops);
      while (!garbage && !stops() && !write_so_far());
    });
  }

  std::optional<std::vector<std::byte>> trailing() const {
    if (garbage) return rest;
    if (skip_left > 0 || filling > 0 || !slots[0].blocks.empty()) return std::nullopt;
    return job.rest_if_ended();
  }

  template <class Stops>
  void restore(std::span<const std::byte>& piece, const Stops& stops) {
    while (!stops()) {
      if (garbage) {
        if (!has_rest) rest.insert(rest.end(), piece.begin(), piece.end());
        has_rest = true;
        piece = {};
        return;
      }
      if (skip_left > 0) {
        const std::size_t bytes = static_cast<std::size_t>(std::min<std::uint64_t>(skip_left, piece.size()));
        piece = piece.subspan(bytes);
        skip_left -= bytes;
        if (skip_left > 0) return;
        job.skipped(job.skip_bytes());
      }
      const auto room = job.room(slots[filling]);
      std::optional<Event> event;
      if (piece.empty() && !room.empty()) {
        event = step([&] { return job.restore_so_far(slots[filling]); });
        if (!event) return;
      } else {
        const std::size_t bytes = std::min(room.size(), piece.size());
        std::copy_n(piece.begin(), bytes, room.begin());
        piece = piece.subspan(bytes);
        event = received(bytes, false);
      }
      take(*event);
    }
  }

  // Tells whether content came out since then.
  std::function<bool()> content_comes() const {
    return [this, before = job.emitted_output_bytes()] { return job.emitted_output_bytes() != before; };
  }

  // All that the pieces so far give, although slots are not full. Returns false as flush() does.
  bool write_so_far() {
    RestoreSlot& last = slots[filling];
    if (filling == 0 && last.blocks.empty()) return true;
    job.set_aside(last);
    if (!last.blocks.empty()) filling++;
    if (!flush()) return false;
    take_device_if_ready();
    return true;
  }

  // Call it in a frame, when all slots are empty.
  void take_device_if_ready() {
    if (!job.device_is_ready()) return;
    slots.clear();
    job.take_device();
    make_slots();
  }

  Event received(std::size_t bytes, bool at_end) {
    return step([&] { return job.received(slots[filling], bytes, at_end); });
  }

  void take(Event event) {
    switch (event) {
      case Event::kMore:
        break;
      case Event::kFrameBegin:
        if (!job.keeps_slots()) slots.clear();
        make_slots();
        break;
      case Event::kBlock:
        if (!job.full(slots[filling])) break;
        if (++filling < slots.size()) break;
        flush();
        take_device_if_ready();
        break;
      case Event::kFrameEnd:
        if (!slots[filling].blocks.empty()) filling++;
        if (flush()) job.end_frame();
        break;
      case Event::kSkip:
        skip_left = job.skip_bytes();
        break;
      case Event::kEnd:
        garbage = true;
        if (job.report().trailing_garbage_at) keep_rest();
        break;
    }
  }

  void keep_rest() {
    std::array<std::byte, 4096> some;
    while (const std::size_t bytes = job.read_rest(some))
      rest.insert(rest.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(bytes));
  }

  void make_slots() {
    while (slots.size() < job.plan().batches_in_flight) slots.push_back(job.make_slot());
    slots.resize(job.plan().batches_in_flight);
  }

  // What is complete before an error is still written.
  template <class Step>
  std::invoke_result_t<Step> step(const Step& step) {
    try {
      return step();
    } catch (...) {
      RestoreSlot& slot = slots[filling];
      const bool may_go_on = job.frame_header().may_be_streams;
      if (may_go_on) slot.error = std::current_exception();
      if (!slot.blocks.empty() || may_go_on) filling++;
      if (!flush()) return Event::kMore;
      throw;
    }
  }

  // Returns false if what follows is restored as a stream, instead of blocks.
  bool flush() {
    work_and_emit(job, slots, filling, job.works_in_order(), gathering);
    filling = 0;
    if (!job.leaves_blocks()) return true;
    job.leave_blocks(nullptr);
    slots.clear();
    make_slots();
    return false;
  }

  bool finish_some() {
    const auto stops = content_comes();
    if (skip_left > 0) job.skipped(job.skip_bytes() - skip_left);  // throws
    // room() passes on what a decoder has read beyond the end of its stream. The whole trailer may be there.
    gathering.pass_on_after([&] {
      while (!garbage && !stops()) {
        job.room(slots[filling]);
        take(received(0, true));
      }
    });
    if (!garbage) return false;
    finished = true;
    report_end(job.report(), {});
    return true;
  }

  GzipIndex index;
  bool makes_index = false, begun = false, finished = false;
  RestoreJob job;
  OutputSink sink;
  GatheringSink gathering{sink};
  std::vector<RestoreSlot> slots;
  std::size_t filling = 0;
  std::uint64_t written_bytes = 0;  // what write() was given
  std::uint64_t skip_left = 0;
  bool garbage = false;  // the bytes that follow are ignored
  // Of these, those up to the end of the piece in which they began.
  std::vector<std::byte> rest;
  bool has_rest = false;
  StreamState state;
};

Decompressor::Decompressor(const RestoreOptions& options, Output output)
    : impl_(std::make_unique<Impl>(options, std::move(output))) {}
Decompressor::~Decompressor() = default;
Decompressor::Decompressor(Decompressor&&) noexcept = default;
Decompressor& Decompressor::operator=(Decompressor&&) noexcept = default;

void Decompressor::make_index() {
  Impl& impl = present(impl_);
  if (impl.begun) throw Error(Status::kWrongState, "call make_index() before the first write()");
  impl.makes_index = true;
  impl.job.make_index(impl.index);
}

void Decompressor::write(std::span<const std::byte> piece) {
  Impl& impl = present(impl_);
  impl.begun = true;
  impl.state.run([&] { impl.write(piece); });
}

void Decompressor::finish() {
  while (!finish_some()) {
  }
}

std::size_t Decompressor::write_some(std::span<const std::byte> piece) {
  Impl& impl = present(impl_);
  impl.begun = true;
  std::size_t taken_bytes = 0;
  impl.state.run([&] { taken_bytes = impl.write_some(piece); });
  return taken_bytes;
}

bool Decompressor::finish_some() {
  Impl& impl = present(impl_);
  impl.begun = true;
  bool is_finished = false;
  impl.state.run([&] { is_finished = impl.finish_some(); });
  if (is_finished) impl.state.close();
  return is_finished;
}

std::optional<std::vector<std::byte>> Decompressor::trailing() const { return present(impl_).trailing(); }

Report Decompressor::report() const { return public_report(present(impl_).job.report()); }

std::vector<std::byte> Decompressor::index() const {
  const Impl& impl = present(impl_);
  if (!impl.makes_index || !impl.finished)
    throw Error(Status::kWrongState, "call index() after make_index() and finish()");
  return impl.index.bytes(impl.written_bytes, impl.job.report().output_bytes);
}

std::vector<std::byte> make_index(std::span<const std::byte> input, const RestoreOptions& options) {
  MemorySource source(input);
  NullSink nowhere;
  const FrameFormat& zstd = FormatTable::instance().of(Format::kZstd);
  if (zstd.begins(input.first(std::min(input.size(), kIdentifyBytes)))) {
    report_end(restore_stream(source, nowhere, options), options);
    return make_zstd_index(source, resolve_threads(options.threads));
  }
  GzipIndex index;
  StreamHooks hooks;
  hooks.index = &index;
  const StreamReport report = restore_stream(source, nowhere, options, hooks);
  report_end(report, options);
  return index.bytes(input.size(), report.output_bytes);
}

std::vector<FormatName> format_names() {
  std::vector<FormatName> names;
  for (const FormatRow& row : FormatTable::instance().all())
    names.push_back({row.format->id(), row.format->name(), row.format->suffix()});
  return names;
}

std::uint64_t restored_bytes(std::span<const std::byte> input) {
  return restored_bytes(input, RestoreOptions{});
}

}  // namespace hemstitch
