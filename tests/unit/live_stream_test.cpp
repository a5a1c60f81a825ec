// Streams whose writer waits for an answer before it goes on: all that a reader can restore from what has
// come must come out before the reader waits for more. Nothing here depends on time.
#include <gtest/gtest.h>
#include <lz4frame.h>
#include <zlib.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "collect_sink.hpp"
#include "hemstitch/hemstitch.hpp"
#include "pipeline/stream.hpp"
#include "shapes.hpp"
#include "threads.hpp"

namespace hemstitch::testing {
namespace {

struct Message {
  Bytes bytes;
  std::size_t content_so_far = 0;  // what this message and those before it give
};

struct Talk {
  std::string name;
  Bytes content;
  std::vector<Message> messages;
};

// Sends a message only once the sink has what those before it give.
class TalkingSource : public Source {
 public:
  TalkingSource(const Talk& talk, const CollectSink& sink) : talk_(talk), sink_(sink) {}

  std::size_t read_some(std::span<std::byte> into) override {
    if (!comes_within(std::chrono::milliseconds(-1))) return 0;
    if (has_ended()) return 0;
    const Bytes& message = talk_.messages[number_].bytes;
    const std::size_t bytes = std::min(into.size(), message.size() - at_);
    std::copy_n(message.begin() + static_cast<std::ptrdiff_t>(at_), bytes, into.begin());
    at_ += bytes;
    return bytes;
  }
  bool comes_within(std::chrono::milliseconds time) override {
    if (has_ended() || at_ < talk_.messages[number_].bytes.size()) return true;
    if (time.count() >= 0) return number_ + 1 == talk_.messages.size();
    const bool is_last = number_ + 1 == talk_.messages.size();
    if (!is_last && sink_.content.size() < talk_.messages[number_].content_so_far) ++held_back_;
    ++number_;
    at_ = 0;
    return true;
  }
  // How many messages a reader held back, although it waited for the next one.
  std::size_t held_back() const { return held_back_; }

 private:
  bool has_ended() const { return number_ == talk_.messages.size(); }

  const Talk& talk_;
  const CollectSink& sink_;
  std::size_t number_ = 0, at_ = 0, held_back_ = 0;
};

// `flushed` turns each part of the content into bytes that give it. Some bytes of every other message come with
// the one before.
Talk talk_of(std::string name, const std::function<Bytes(std::span<const std::byte>)>& flushed) {
  Talk talk{std::move(name), mixed_bytes(7000000, 5), {}};
  std::size_t at = 0;
  for (std::size_t i = 0; at < talk.content.size(); ++i) {
    constexpr std::size_t kPartBytes[] = {1, 80, 5000, 200000, 450000};
    const std::size_t bytes = std::min(kPartBytes[i % 5], talk.content.size() - at);
    Message message{flushed(std::span(talk.content).subspan(at, bytes)), at += bytes};
    if (i % 2 != 0) {
      Bytes& before = talk.messages.back().bytes;
      const auto early = message.bytes.begin() + static_cast<std::ptrdiff_t>(message.bytes.size() / 2);
      before.insert(before.end(), message.bytes.begin(), early);
      message.bytes.erase(message.bytes.begin(), early);
    }
    talk.messages.push_back(std::move(message));
  }
  return talk;
}

// The end of a stream that zlib and liblz4 write is left out: the last message is followed by it.
Talk flushed_gzip() {
  z_stream stream{};
  deflateInit2(&stream, 1, Z_DEFLATED, MAX_WBITS + 16, 9, Z_DEFAULT_STRATEGY);
  const auto step = [&](std::span<const std::byte> part, int flush) {
    Bytes bytes(part.size() + part.size() / 8 + 1000);
    stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(part.data()));
    stream.avail_in = static_cast<uInt>(part.size());
    stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
    stream.avail_out = static_cast<uInt>(bytes.size());
    deflate(&stream, flush);
    bytes.resize(bytes.size() - stream.avail_out);
    return bytes;
  };
  Talk talk = talk_of("one gzip stream, flushed",
                      [&](std::span<const std::byte> part) { return step(part, Z_SYNC_FLUSH); });
  talk.messages.push_back({step({}, Z_FINISH), talk.content.size()});
  deflateEnd(&stream);
  return talk;
}

Talk flushed_lz4(bool linked) {
  LZ4F_preferences_t preferences{};
  preferences.autoFlush = 1;
  preferences.frameInfo.blockMode = linked ? LZ4F_blockLinked : LZ4F_blockIndependent;
  preferences.frameInfo.blockChecksumFlag = linked ? LZ4F_noBlockChecksum : LZ4F_blockChecksumEnabled;
  LZ4F_cctx* context = nullptr;
  LZ4F_createCompressionContext(&context, LZ4F_VERSION);
  Bytes begin(100);
  begin.resize(LZ4F_compressBegin(context, begin.data(), begin.size(), &preferences));
  Talk talk = talk_of(linked ? "linked blocks" : "independent blocks", [&](std::span<const std::byte> part) {
    Bytes bytes(LZ4F_compressBound(part.size(), &preferences));
    bytes.resize(LZ4F_compressUpdate(context, bytes.data(), bytes.size(), part.data(), part.size(), nullptr));
    return bytes;
  });
  Bytes& first = talk.messages.front().bytes;
  first.insert(first.begin(), begin.begin(), begin.end());
  Bytes end(100);
  end.resize(LZ4F_compressEnd(context, end.data(), end.size(), nullptr));
  talk.messages.push_back({end, talk.content.size()});
  LZ4F_freeCompressionContext(context);
  return talk;
}

// A frame for each message, and a skippable frame before it.
Talk frames(std::string name, Format format) {
  CompressOptions options;
  options.format = format;
  options.threads = 1;
  options.backend = "cpu";
  return talk_of(std::move(name), [&](std::span<const std::byte> part) {
    Bytes bytes;
    if (format == Format::kLz4)
      for (const int byte : {0x50, 0x2A, 0x4D, 0x18, 4, 0, 0, 0, 1, 2, 3, 4})
        bytes.push_back(static_cast<std::byte>(byte));
    const Bytes frame = compress(part, options);
    bytes.insert(bytes.end(), frame.begin(), frame.end());
    return bytes;
  });
}

std::vector<Talk> talks() {
  return {flushed_gzip(),
          flushed_lz4(false),
          flushed_lz4(true),
          frames("LZ4 frames", Format::kLz4),
          frames("gzip members", Format::kGzip),
          frames("BGZF", Format::kBgzf)};
}

TEST_WITH_THREADS(LiveStream, APauseHoldsNothingBack) {
  for (const Talk& talk : talks())
    for (const unsigned threads : {1u, 2u, 4u}) {
      SCOPED_TRACE(talk.name + ", threads: " + std::to_string(threads));
      RestoreOptions options;
      options.backend = "cpu";
      options.threads = threads;
      CollectSink sink;
      TalkingSource source(talk, sink);
      restore_stream(source, sink, options);
      EXPECT_EQ(source.held_back(), 0u) << "of " << talk.messages.size() << " messages";
      EXPECT_TRUE(sink.content == talk.content);
    }
}

TEST_WITH_THREADS(LiveStream, APushGivesAllThatItCan) {
  for (const Talk& talk : talks())
    for (const unsigned threads : {1u, 4u})
      for (const std::size_t most_bytes : {std::size_t{1000}, std::size_t{1} << 20}) {
        SCOPED_TRACE(talk.name + ", threads: " + std::to_string(threads));
        RestoreOptions options;
        options.backend = "cpu";
        options.threads = threads;
        Bytes content;
        Decompressor decompressor(options, [&](std::span<const std::byte> piece) {
          content.insert(content.end(), piece.begin(), piece.end());
        });
        std::size_t held_back = 0;
        for (const Message& message : talk.messages) {
          std::span<const std::byte> rest = message.bytes;
          while (!rest.empty()) {
            const auto piece = rest.first(std::min(most_bytes, rest.size()));
            decompressor.write(piece);
            rest = rest.subspan(piece.size());
          }
          held_back += content.size() < message.content_so_far;
        }
        decompressor.finish();
        EXPECT_EQ(held_back, 0u) << "of " << talk.messages.size() << " messages";
        EXPECT_TRUE(content == talk.content);
      }
}

}  // namespace
}  // namespace hemstitch::testing
