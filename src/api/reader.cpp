#include "hemstitch/reader.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

#include "core/descriptor.hpp"
#include "core/options.hpp"
#include "core/random_access.hpp"
#include "core/status.hpp"
#include "hemstitch/ranges.hpp"

namespace hemstitch {
namespace {

// Pieces of the input: few bytes first, since often only the beginning is read.
constexpr std::size_t kFirstInputBytes = std::size_t{256} << 10, kInputBytes = std::size_t{4} << 20;
// Content that is restored at a place that was sought: more of it while reading goes on there.
constexpr std::size_t kLeastAheadBytes = std::size_t{64} << 10, kMostAheadBytes = std::size_t{8} << 20;
// So far ahead, content is restored and dropped rather than looked for.
constexpr std::uint64_t kNearBytes = std::uint64_t{4} << 20;

std::size_t checked_bytes(std::size_t got, std::size_t wanted) {
  if (got > wanted)
    throw Error(Status::kReadFailed,
                fmt::format("the function for reading returned {} bytes where {} were wanted", got, wanted));
  return got;
}

template <class Impl>
Impl& impl_of(const std::unique_ptr<Impl>& impl) {
  if (!impl) throw Error(Status::kWrongState, "the reader was moved from");
  return *impl;
}

// Reads what cannot be read at any place.
ReadNext reader_of_descriptor(Descriptor file, std::string name) {
  const auto kept = std::make_shared<Descriptor>(std::move(file));
  return [kept, name](std::span<std::byte> into) {
    for (;;) {
      const ssize_t got = ::read(kept->number(), into.data(), into.size());
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno != EINTR) throw system_error(Status::kReadFailed, name, errno);
    }
  };
}

}  // namespace

// Reads in order through `stream`, until a place is sought that the table or the index knows: from then on through `ranges`.
struct Reader::Impl {
  explicit Impl(const RestoreOptions& given) : options(given) {
    validate(options);
    refuse_used_bytes(options);
    dictionary.assign(given.dictionary.begin(), given.dictionary.end());
    index.assign(given.index.begin(), given.index.end());
    options.dictionary = dictionary;
    options.index = index;
    begin_stream();
  }

  RestoreOptions stream_options() const {
    RestoreOptions alone = options;
    alone.index = {};
    return alone;
  }

  void begin_stream() {
    stream_failed = false;
    stream.emplace(stream_options(), [this](std::span<const std::byte> piece) {
      content.insert(content.end(), piece.begin(), piece.end());
    });
    input_at = 0;
    input.clear();
    taken = 0;
    has_more = input_ended = stream_ended = false;
    content.clear();
    given_bytes = 0;
    content_end = 0;
  }

  std::size_t read_input(std::span<std::byte> into) {
    if (!access) return checked_bytes(next(into), into.size());
    const std::size_t got = access->read_at(input_at, into);
    input_at += got;
    return got;
  }

  // Restores some more content, or finds the end.
  void fill_from_stream() {
    content.clear();
    given_bytes = 0;
    while (content.empty() && !stream_ended) {
      if (taken < input.size() || has_more) {
        taken += stream->write_some(std::span(input).subspan(taken));
        has_more = !content.empty();  // of what it took already
      } else if (!input_ended) {
        input.resize(input.empty() ? kFirstInputBytes : kInputBytes);
        taken = 0;
        const std::size_t got = read_input(input);
        input.resize(got);
        input_ended = got == 0;
      } else {
        stream_ended = stream->finish_some();
      }
    }
    content_end += content.size();
  }

  // A read that meets damage gives nothing, so less is tried, until what stands before the damage has been given.
  void fill_from_ranges() {
    ahead_bytes = std::min(2 * ahead_bytes, kMostAheadBytes);
    for (;; ahead_bytes /= 2) {
      content.resize(ahead_bytes);
      given_bytes = 0;
      try {
        content.resize(ranges->read(at, content));
        break;
      } catch (...) {
        content.clear();
        if (ahead_bytes == 1) throw;
      }
    }
    content_end = at + content.size();
  }

  // Restores what comes at `at`, if nothing of it is here; keeps the error of a failure.
  void fill() {
    if (given_bytes < content.size()) return;
    if (failure) std::rethrow_exception(failure);
    try {
      by_ranges ? fill_from_ranges() : fill_from_stream();
    } catch (...) {
      // A stream passes content on before it throws.
      failure = std::current_exception();
      stream_failed = !by_ranges;
      content_end = at + content.size();
      if (content.empty()) throw;
    }
  }

  std::size_t read(std::span<std::byte> into) {
    std::size_t done = 0;
    while (done < into.size()) {
      try {
        fill();
      } catch (...) {
        if (done == 0) throw;
        break;
      }
      const std::size_t bytes = std::min(into.size() - done, content.size() - given_bytes);
      if (bytes == 0) break;
      std::copy_n(content.begin() + static_cast<std::ptrdiff_t>(given_bytes), bytes,
                  into.begin() + static_cast<std::ptrdiff_t>(done));
      given_bytes += bytes;
      done += bytes;
      at += bytes;
    }
    return done;
  }

  // Reads on to a place, as far as there is content.
  void drop_until(std::uint64_t place) {
    while (at < place) {
      fill();
      if (content.empty()) break;
      const auto bytes =
          static_cast<std::size_t>(std::min<std::uint64_t>(place - at, content.size() - given_bytes));
      given_bytes += bytes;
      at += bytes;
    }
    at = place;  // behind the end nothing is read
  }

  // Finds where the blocks are, or makes an index; without both, the stream remains. It is tried once.
  void find_places() {
    if (tried_places || !access) return;
    tried_places = true;
    const auto make = [&] {
      const RandomAccess* const bytes = access.get();
      if (const auto memory = bytes->memory()) return RangeReader(*memory, options);
      return RangeReader(
          [bytes](std::uint64_t place, std::span<std::byte> into) { return bytes->read_at(place, into); },
          bytes->total_bytes(), options);
    };
    if (!options.dictionary.empty()) return;
    try {
      ranges.emplace(make());
      return;
    } catch (const Error&) {
      if (!options.index.empty()) throw;  // it is not one of this input
    }
    try {
      Decompressor indexing(stream_options(), [](std::span<const std::byte>) {});
      indexing.make_index();
      std::vector<std::byte> piece(kInputBytes);
      for (std::uint64_t place = 0;;) {
        const std::size_t got = access->read_at(place, piece);
        if (got == 0) break;
        indexing.write(std::span(piece).first(got));
        place += got;
      }
      indexing.finish();
      index = indexing.index();
      options.index = index;
      ranges.emplace(make());
    } catch (const Error&) {
      index.clear();
      options.index = {};
    }
  }

  void seek(std::uint64_t place) {
    const std::uint64_t begin = content_end - content.size();
    if (place >= begin && place <= content_end && at <= content_end) {
      given_bytes = static_cast<std::size_t>(place - begin);
      at = place;
      return;
    }
    if (!access && place < at)
      throw Error(Status::kWrongState,
                  fmt::format("seek to {}: the input comes in order, and {} was reached", place, at));
    const bool is_near = place > at && place - at <= kNearBytes && !by_ranges && !failure;
    if (!access || is_near) return drop_until(place);
    if (place != 0) find_places();
    failure = nullptr;
    by_ranges = ranges && place != 0;
    if (by_ranges) {
      stream.reset();
      content.clear();
      given_bytes = 0;
      ahead_bytes = kLeastAheadBytes / 2;
      at = content_end = place;
      return;
    }
    if (place < at || !stream || stream_failed) {
      at = 0;
      begin_stream();
    }
    drop_until(place);
  }

  RestoreOptions options;
  std::vector<std::byte> dictionary, index;
  ReadNext next;                         // of an input that comes in order
  std::unique_ptr<RandomAccess> access;  // of others

  std::optional<Decompressor> stream;
  std::uint64_t input_at = 0;    // of the input, behind `input`
  std::vector<std::byte> input;  // a piece of it
  std::size_t taken = 0;         // by the stream
  bool stream_failed = false, has_more = false, input_ended = false, stream_ended = false;

  bool tried_places = false;
  std::optional<RangeReader> ranges;
  bool by_ranges = false;
  std::size_t ahead_bytes = 0;

  std::vector<std::byte> content;  // restored, up to content_end of all content
  std::size_t given_bytes = 0;     // of it
  std::uint64_t content_end = 0;
  std::uint64_t at = 0;
  std::exception_ptr failure;
};

Reader Reader::open(const std::string& path, const RestoreOptions& options) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.number() < 0) throw system_error(Status::kReadFailed, path, errno);
  return open(file.number(), options);
}

Reader Reader::open(int descriptor, const RestoreOptions& options) {
  auto impl = std::make_unique<Impl>(options);
  struct stat status {};
  if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode)) {
    impl->access = std::make_unique<FileAccess>(descriptor);
  } else {
    const std::string name = fmt::format("descriptor {}", descriptor);
    Descriptor file(::fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
    if (file.number() < 0) throw system_error(Status::kReadFailed, name, errno);
    impl->next = reader_of_descriptor(std::move(file), name);
  }
  return Reader(std::move(impl));
}

Reader::Reader(std::span<const std::byte> input, const RestoreOptions& options)
    : impl_(std::make_unique<Impl>(options)) {
  impl_->access = std::make_unique<MemoryAccess>(input);
}

Reader::Reader(ReadNext read, const RestoreOptions& options) : impl_(std::make_unique<Impl>(options)) {
  impl_->next = std::move(read);
}

Reader::Reader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Reader::~Reader() = default;
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;

std::size_t Reader::read(std::span<std::byte> into) { return impl_of(impl_).read(into); }
void Reader::seek(std::uint64_t at) { impl_of(impl_).seek(at); }
std::uint64_t Reader::tell() const { return impl_of(impl_).at; }

}  // namespace hemstitch
