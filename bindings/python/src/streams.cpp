// Streams, as the base of hemstitch.open().
#include <algorithm>
#include <cstring>

#include "module.hpp"
#include "python_buffers.hpp"
#include "signals.hpp"

namespace hemstitch::python {
namespace {

// One call at a time: the GIL is released during the work, so another thread may call. The flag is set and
// cleared with the GIL held.
class OneCall {
 public:
  explicit OneCall(bool& busy) : busy_(busy) {
    if (busy_) throw Error(Status::kWrongState, "another thread is using this stream");
    busy_ = true;
  }
  ~OneCall() { busy_ = false; }
  OneCall(const OneCall&) = delete;
  OneCall& operator=(const OneCall&) = delete;

 private:
  bool& busy_;
};

template <class Options>
Options watched(Options options, Signals& signals) {
  options.between_pieces = signals.between_pieces();
  return options;
}

// A Compressor that returns its output.
class CompressStream {
 public:
  CompressStream(CompressOptions options, nb::handle dictionary)
      : dictionary_(take_dictionary(dictionary, options)),
        stream_(watched(options, signals_), [this](std::span<const std::byte> piece) {
          output_.insert(output_.end(), piece.begin(), piece.end());
        }) {}

  // Compresses data[begin : begin + size].
  nb::bytes write(nb::object data, std::size_t begin, std::size_t size) {
    const Buffer buffer(data);
    const std::span<const std::byte> input = buffer.bytes().subspan(std::min(begin, buffer.bytes().size()));
    return run([&] { stream_.write(input.first(std::min(size, input.size()))); });
  }
  nb::bytes flush() {
    return run([&] { stream_.flush(); });
  }
  nb::bytes finish() {
    return run([&] { stream_.finish(); });
  }

 private:
  template <class Call>
  nb::bytes run(const Call& call) {
    const OneCall one(busy_);
    output_.clear();
    signals_.watch(call);
    return bytes_of(output_);
  }

  bool busy_ = false;
  std::vector<std::byte> output_;
  std::optional<Buffer> dictionary_;
  Signals signals_;
  Compressor stream_;
};

// A Decompressor that is given input when it asks for it, and from which content is taken piece by piece. It
// keeps one piece of content at most. If the input is damaged, the content before comes first.
class RestoreStream {
 public:
  RestoreStream(RestoreOptions options, nb::handle dictionary)
      : format_(options.format),
        threads_(options.threads),
        dictionary_(take_dictionary(dictionary, options)),
        stream_(watched(options, signals_), [this](std::span<const std::byte> piece) { receive(piece); }) {}

  // The next input, when read_into() gave nothing; empty at its end.
  void give(nb::object data) {
    const OneCall one(busy_);
    input_.emplace(data);
    left_ = input_->bytes();
    if (!has_begun_ && !left_.empty()) {
      constexpr std::byte kGzip{0x1f}, kZstd{0x28};
      is_lz4_ = format_ ? *format_ == Format::kLz4 : left_.front() != kGzip && left_.front() != kZstd;
      has_begun_ = true;
    }
    at_end_ = left_.empty();
    wants_input_ = false;
  }

  // How many bytes of `room` were filled. 0: give() more, or the content has ended.
  std::size_t read_into(nb::object room) {
    const OneCall one(busy_);
    const Buffer output(room, Buffer::Use::kWrite);
    return signals_.watch([&] { return fill(output.room()); });
  }

  // All that is left; more() gives the input. Ends also if it gives None.
  nb::bytes read_all(nb::callable more) {
    BytesResult result(kLeastRoomBytes);
    std::size_t used_bytes = 0;
    for (;;) {
      if (used_bytes == result.room().size()) result.grow();
      const std::size_t bytes = [&] {
        const OneCall one(busy_);
        return signals_.watch([&] { return fill(result.room().subspan(used_bytes)); });
      }();
      used_bytes += bytes;
      if (bytes != 0) continue;
      if (has_ended_) break;
      const nb::object input = more();
      if (input.is_none()) break;
      give(input);
    }
    return result.take(used_bytes);
  }

  bool has_ended() const { return has_ended_; }

  // Whether threads of its own may work on the content.
  bool has_threads() const { return has_begun_ && threads_ != 1 && !is_lz4_; }

 private:
  static constexpr std::size_t kLeastRoomBytes = 64 << 10;

  void receive(std::span<const std::byte> piece) {
    const std::size_t bytes = std::min(piece.size(), room_.size());
    if (bytes != 0) std::memcpy(room_.data(), piece.data(), bytes);
    room_ = room_.subspan(bytes);
    kept_.insert(kept_.end(), piece.begin() + static_cast<std::ptrdiff_t>(bytes), piece.end());
    came_ = came_ || !piece.empty();
  }

  std::size_t fill(std::span<std::byte> room) {
    room_ = room;
    const std::size_t kept_bytes = std::min(kept_.size() - kept_at_, room.size());
    if (kept_bytes != 0) std::memcpy(room_.data(), kept_.data() + kept_at_, kept_bytes);
    room_ = room_.subspan(kept_bytes);
    kept_at_ += kept_bytes;
    if (kept_at_ != kept_.size()) return kept_bytes;
    kept_.clear();
    kept_at_ = 0;
    try {
      while (!room_.empty() && !wants_input_ && !has_ended_ && !error_) step();
    } catch (const Error&) {
      error_ = std::current_exception();
    }
    const std::size_t filled_bytes = room.size() - room_.size();
    if (filled_bytes == 0 && error_) std::rethrow_exception(error_);
    return filled_bytes;
  }

  void step() {
    came_ = false;
    if (at_end_) {
      has_ended_ = stream_.finish_some();
    } else {
      left_ = left_.subspan(stream_.write_some(left_));
      wants_input_ = !came_;
    }
  }

  std::optional<Format> format_;
  unsigned threads_;
  std::optional<Buffer> dictionary_;
  bool has_begun_ = false, is_lz4_ = false;
  bool busy_ = false;
  std::optional<Buffer> input_;
  std::span<const std::byte> left_;  // of the input
  bool at_end_ = false, wants_input_ = true, has_ended_ = false;
  std::span<std::byte> room_;    // of the caller's, which is filled first
  std::vector<std::byte> kept_;  // content that did not fit there, from kept_at_ on
  std::size_t kept_at_ = 0;
  bool came_ = false;
  std::exception_ptr error_;
  Signals signals_;
  Decompressor stream_;
};

}  // namespace

void add_streams(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<CompressStream>(module, "CompressStream")
      .def(
          "__init__",
          [](CompressStream* self, const std::string& format, std::optional<int> level,
             const std::string& backend, unsigned threads, std::size_t block_bytes, bool content_checksum,
             nb::object dictionary, std::size_t seekable_bytes, int window_log) {
            new (self) CompressStream(compress_options(format, level, backend, threads, block_bytes,
                                                       content_checksum, seekable_bytes, window_log),
                                      dictionary);
          },
          nb::kw_only(), "format"_a = "lz4", "level"_a = nb::none(), "backend"_a = "auto", "threads"_a = 0,
          "block_bytes"_a = 0, "content_checksum"_a = false, "dictionary"_a = nb::none(),
          "seekable_bytes"_a = 0, "window_log"_a = 0)
      .def("write", &CompressStream::write, "data"_a, "begin"_a = 0, "size"_a = PY_SSIZE_T_MAX)
      .def("flush", &CompressStream::flush)
      .def("finish", &CompressStream::finish);
  nb::class_<RestoreStream>(module, "RestoreStream")
      .def(
          "__init__",
          [](RestoreStream* self, const std::string& format, const std::string& backend, unsigned threads,
             nb::object dictionary, int window_log) {
            new (self) RestoreStream(restore_options(format, backend, threads, window_log), dictionary);
          },
          nb::kw_only(), "format"_a = "auto", "backend"_a = "auto", "threads"_a = 0,
          "dictionary"_a = nb::none(), "window_log"_a = 0)
      .def("give", &RestoreStream::give, "data"_a)
      .def("read_into", &RestoreStream::read_into, "room"_a)
      .def("read_all", &RestoreStream::read_all, "more"_a)
      .def_prop_ro("ended", &RestoreStream::has_ended)
      .def_prop_ro("has_threads", &RestoreStream::has_threads);
}

}  // namespace hemstitch::python
