// Streams, as the base of hemstitch.open(), Compressor and Decompressor.
#include <algorithm>
#include <cstring>

#include "keywords.hpp"
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
  explicit CompressStream(CompressCall call)
      : dictionary_(std::move(call.dictionary)),
        stream_(watched(call.options, signals_), [this](std::span<const std::byte> piece) {
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

// A Decompressor from which content is taken piece by piece. It keeps one piece of content at most. If the
// input is damaged, the content before comes first.
class ContentStream {
 public:
  explicit ContentStream(RestoreCall call)
      : format_(call.options.format),
        threads_(call.options.threads),
        dictionary_(std::move(call.dictionary)),
        stream_(watched(call.options, signals_),
                [this](std::span<const std::byte> piece) { receive(piece); }) {}

  // The next input. It has to stay as long as some of it is left().
  void give(std::span<const std::byte> input) {
    left_ = input;
    if (!has_begun_ && !left_.empty()) {
      constexpr std::byte kGzip{0x1f}, kZstd{0x28};
      is_lz4_ = format_ ? *format_ == Format::kLz4 : left_.front() != kGzip && left_.front() != kZstd;
      has_begun_ = true;
    }
    wants_input_ = false;
  }
  // There is no more.
  void end() {
    at_end_ = true;
    wants_input_ = false;
  }

  // How many bytes of `room` were filled. 0: give() more, or the content has ended.
  std::size_t read_into(std::span<std::byte> room) {
    return signals_.watch([&] { return fill(room); });
  }

  std::span<const std::byte> left() const { return left_; }
  void left_is_now(std::span<const std::byte> left) { left_ = left; }
  bool has_ended() const { return has_ended_; }
  // Whether all that could be restored was taken.
  bool wants_input() const { return wants_input_ && left_.empty() && kept_.empty() && !error_; }
  std::optional<std::vector<std::byte>> trailing() const {
    return wants_input() ? stream_.trailing() : std::nullopt;
  }

  // Whether threads of its own may work on the content.
  bool has_threads() const { return has_begun_ && threads_ != 1 && !is_lz4_; }

 private:
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

constexpr std::size_t kLeastRoomBytes = 64 << 10;

// A ContentStream that is given input when it asks for it, as a file is read.
class RestoreStream {
 public:
  explicit RestoreStream(RestoreCall call) : content_(std::move(call)) {}

  // The next input, when read_into() gave nothing; empty at its end.
  void give(nb::object data) {
    const OneCall one(busy_);
    input_.emplace(data);
    if (input_->bytes().empty())
      content_.end();
    else
      content_.give(input_->bytes());
  }

  // How many bytes of `room` were filled. 0: give() more, or the content has ended.
  std::size_t read_into(nb::object room) {
    const OneCall one(busy_);
    const Buffer output(room, Buffer::Use::kWrite);
    return content_.read_into(output.room());
  }

  // All that is left; more() gives the input. Ends also if it gives None.
  nb::bytes read_all(nb::callable more) {
    BytesResult result(kLeastRoomBytes);
    std::size_t used_bytes = 0;
    for (;;) {
      if (used_bytes == result.room().size()) result.grow();
      const std::size_t bytes = [&] {
        const OneCall one(busy_);
        return content_.read_into(result.room().subspan(used_bytes));
      }();
      used_bytes += bytes;
      if (bytes != 0) continue;
      if (content_.has_ended()) break;
      const nb::object input = more();
      if (input.is_none()) break;
      give(input);
    }
    return result.take(used_bytes);
  }

  bool has_ended() const { return content_.has_ended(); }
  bool has_threads() const { return content_.has_threads(); }

 private:
  bool busy_ = false;
  std::optional<Buffer> input_;
  ContentStream content_;
};

// A ContentStream that is given input whenever there is some, as Python's own decompressors are.
class PushedStream {
 public:
  explicit PushedStream(RestoreCall call) : content_(std::move(call)) {}

  // The content that is restored of all input so far, at most `most_bytes`.
  nb::bytes decompress(nb::object data, std::size_t most_bytes) {
    const OneCall one(busy_);
    const Buffer buffer(data);
    if (!unused_.empty()) {
      PyErr_SetString(PyExc_EOFError, "the stream has ended; unused_data is what followed it");
      throw nb::python_error();
    }
    take(buffer.bytes());
    BytesResult result(std::min(most_bytes, kLeastRoomBytes));
    std::size_t used_bytes = 0;
    const auto restore = [&] {
      while (used_bytes < most_bytes) {
        if (used_bytes == result.room().size()) result.grow(most_bytes);
        const std::size_t bytes = content_.read_into(result.room().subspan(used_bytes));
        used_bytes += bytes;
        if (bytes == 0) break;
      }
    };
    try {
      restore();
    } catch (...) {
      keep_left();
      throw;
    }
    keep_left();
    std::optional<std::vector<std::byte>> trailing = content_.trailing();
    is_whole_ = trailing.has_value();
    if (trailing) unused_ = std::move(*trailing);
    return result.take(used_bytes);
  }

  bool is_whole() const { return is_whole_; }
  bool needs_input() const { return !is_whole_ && content_.wants_input(); }
  nb::bytes unused() const { return bytes_of(unused_); }
  bool has_threads() const { return content_.has_threads(); }

 private:
  void take(std::span<const std::byte> input) {
    if (input.empty()) return;
    if (content_.left().empty()) return content_.give(input);
    pending_.erase(pending_.begin(), pending_.end() - static_cast<std::ptrdiff_t>(content_.left().size()));
    pending_.insert(pending_.end(), input.begin(), input.end());
    content_.give(pending_);
  }

  // The caller's bytes are only there during a call.
  void keep_left() {
    const std::span<const std::byte> left = content_.left();
    const bool is_kept = !pending_.empty() && left.data() >= pending_.data() &&
                         left.data() < pending_.data() + pending_.size();
    if (is_kept) return;
    pending_.assign(left.begin(), left.end());
    content_.left_is_now(pending_);
  }

  bool busy_ = false;
  std::vector<std::byte> pending_;  // what was given and not taken yet is at its end
  bool is_whole_ = false;
  std::vector<std::byte> unused_;
  ContentStream content_;
};

}  // namespace

void add_streams(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<CompressStream>(module, "CompressStream")
      .def(
          "__init__",
          [](CompressStream* self, const nb::kwargs& given) {
            new (self) CompressStream(compress_call(given));
          },
          "options"_a)
      .def("write", &CompressStream::write, "data"_a, "begin"_a = 0, "size"_a = PY_SSIZE_T_MAX)
      .def("flush", &CompressStream::flush)
      .def("finish", &CompressStream::finish);
  nb::class_<RestoreStream>(module, "RestoreStream")
      .def(
          "__init__",
          [](RestoreStream* self, const nb::kwargs& given) { new (self) RestoreStream(restore_call(given)); },
          "options"_a)
      .def("give", &RestoreStream::give, "data"_a)
      .def("read_into", &RestoreStream::read_into, "room"_a)
      .def("read_all", &RestoreStream::read_all, "more"_a)
      .def_prop_ro("ended", &RestoreStream::has_ended)
      .def_prop_ro("has_threads", &RestoreStream::has_threads);
  nb::class_<PushedStream>(module, "PushedStream")
      .def(
          "__init__",
          [](PushedStream* self, const nb::kwargs& given) { new (self) PushedStream(restore_call(given)); },
          "options"_a)
      .def(
          "decompress",
          [](PushedStream& self, nb::object data, nb::object max_length) {
            const auto most = Keyword("max_length", max_length).number<std::int64_t>(INT64_MIN, INT64_MAX);
            return self.decompress(data,
                                   most < 0 ? std::size_t{PY_SSIZE_T_MAX} : static_cast<std::size_t>(most));
          },
          "data"_a, "max_length"_a)
      .def_prop_ro("eof", &PushedStream::is_whole)
      .def_prop_ro("needs_input", &PushedStream::needs_input)
      .def_prop_ro("unused_data", &PushedStream::unused)
      .def_prop_ro("has_threads", &PushedStream::has_threads);
}

}  // namespace hemstitch::python
