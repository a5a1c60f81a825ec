// What calls do with the memory and the functions of their callers: outputs that overlap an input are
// refused, pointers that must be there are missed by name, functions may throw anything, and enumerations may
// hold any number.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hemstitch/batch.h"
#include "hemstitch/choice.h"
#include "hemstitch/compact.h"
#include "hemstitch/compact.hpp"
#include "hemstitch/files.h"
#include "hemstitch/memory.h"
#include "hemstitch/memory.hpp"
#include "hemstitch/pages.h"
#include "hemstitch/pages.hpp"
#include "hemstitch/ranges.h"
#include "hemstitch/ranges.hpp"
#include "hemstitch/search.h"
#include "shapes.hpp"

namespace hemstitch::testing {
namespace {

std::string message() { return hemstitch_last_error_message(); }

// ---- Outputs that overlap an input ----

// The call must be refused for outputs at each of these places, and must not have written anything.
void expect_refused(const char* what, const Bytes& memory, const std::function<void()>& call) {
  const Bytes before = memory;
  try {
    call();
    ADD_FAILURE() << what;
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kInvalidOption) << what;
    EXPECT_NE(std::string(error.what()).find("overlap"), std::string::npos) << error.what();
  }
  EXPECT_TRUE(memory == before) << what;
}

void expect_refused(const char* what, const Bytes& memory, const std::function<hemstitch_status()>& call) {
  expect_refused(what, memory, std::function<void()>([&] {
                   const hemstitch_status status = call();
                   if (status != HEMSTITCH_OK) throw Error(static_cast<Status>(status), message());
                 }));
}

constexpr std::size_t kBytes = 100'000;

struct Overlapping {
  Bytes memory;
  std::span<std::byte> input, output;
};

// Inputs and outputs in one memory: the same, an end in a beginning, one byte in common.
std::vector<Overlapping> overlapping(const Bytes& input) {
  std::vector<Overlapping> all;
  for (const auto& [input_at, output_at] :
       {std::pair<std::size_t, std::size_t>{0, 0}, {0, input.size() - 1}, {4 * kBytes - 1, 0}}) {
    Overlapping& one = all.emplace_back();
    one.memory = random_bytes(input_at + output_at + input.size() + 4 * kBytes);
    std::copy(input.begin(), input.end(), one.memory.begin() + static_cast<std::ptrdiff_t>(input_at));
    one.input = std::span(one.memory).subspan(input_at, input.size());
    one.output = std::span(one.memory).subspan(output_at, 4 * kBytes);
  }
  return all;
}

TEST(OverlappingOutputs, AreRefusedByCallsForOneInput) {
  const Bytes content = wordy_bytes(kBytes);
  for (Overlapping& in : overlapping(content)) {
    expect_refused("compress_into", in.memory,
                   std::function<void()>([&] { compress_into(in.input, in.output); }));
    std::size_t bytes = 0;
    expect_refused("hemstitch_compress", in.memory, std::function<hemstitch_status()>([&] {
                     return hemstitch_compress(in.input.data(), in.input.size(), 0, in.output.data(),
                                               in.output.size(), &bytes);
                   }));
    hemstitch_report report{};
    report.size = sizeof report;
    hemstitch_compress_options options{};
    options.size = sizeof options;
    options.report = &report;
    expect_refused("hemstitch_compress_with", in.memory, std::function<hemstitch_status()>([&] {
                     return hemstitch_compress_with(&options, in.input.data(), in.input.size(),
                                                    in.output.data(), in.output.size(), &bytes);
                   }));
    const auto target = in.output.first(in.input.size());
    if (in.input.data() <= in.output.data()) {
      expect_refused("shuffle_bytes", in.memory,
                     std::function<void()>([&] { shuffle_bytes(in.input, 4, target); }));
      expect_refused("unshuffle_bytes", in.memory, std::function<hemstitch_status()>([&] {
                       return hemstitch_unshuffle_bytes(in.input.data(), in.input.size(), 4, target.data());
                     }));
      expect_refused("bitshuffle_bytes", in.memory,
                     std::function<void()>([&] { bitshuffle_bytes(in.input, 4, 0, target); }));
      expect_refused("bitunshuffle_bytes", in.memory, std::function<hemstitch_status()>([&] {
                       return hemstitch_bitunshuffle_bytes(in.input.data(), in.input.size(), 4, 0,
                                                           target.data());
                     }));
    }
  }
  CompressOptions bgzf;
  bgzf.format = Format::kBgzf;
  for (const Bytes& frame : {compress(content), compress(content, bgzf)})
    for (Overlapping& in : overlapping(frame)) {
      expect_refused("restore_into", in.memory,
                     std::function<void()>([&] { restore_into(in.input, in.output); }));
      std::size_t bytes = 0;
      expect_refused("hemstitch_restore", in.memory, std::function<hemstitch_status()>([&] {
                       return hemstitch_restore(in.input.data(), in.input.size(), in.output.data(),
                                                in.output.size(), &bytes);
                     }));
      expect_refused("hemstitch_make_index", in.memory, std::function<hemstitch_status()>([&] {
                       return hemstitch_make_index(nullptr, in.input.data(), in.input.size(),
                                                   in.output.data(), in.output.size(), &bytes);
                     }));
      const RangeReader reader(in.input);
      expect_refused("RangeReader::read", in.memory,
                     std::function<void()>([&] { reader.read(0, in.output); }));
      hemstitch_range range{0, 5, in.output.data(), in.output.size(), 0, HEMSTITCH_OK, {}};
      expect_refused("hemstitch_restore_ranges", in.memory, std::function<hemstitch_status()>([&] {
                       return hemstitch_restore_ranges(nullptr, in.input.data(), in.input.size(), &range, 1);
                     }));
      hemstitch_range_reader* made = nullptr;
      ASSERT_EQ(hemstitch_range_reader_new(nullptr, in.input.data(), in.input.size(), &made), HEMSTITCH_OK);
      expect_refused("hemstitch_range_reader_restore", in.memory, std::function<hemstitch_status()>([&] {
                       return hemstitch_range_reader_restore(made, &range, 1);
                     }));
      hemstitch_range_reader_free(made);
    }
}

TEST(OverlappingOutputs, AreRefusedByCallsForMany) {
  constexpr std::size_t kRoom = 2000;
  Bytes memory = wordy_bytes(20 * kRoom);
  const auto piece = [&](std::size_t number) { return memory.data() + number * kRoom; };
  // Of three items, the second one's output is the third one's input, or the first one's output.
  for (const std::size_t second_output : {4u, 1u}) {
    std::vector<hemstitch_item> items(3);
    for (std::size_t i = 0; i < 3; ++i) {
      items[i].input = piece(2 * i);
      items[i].input_bytes = 1000;
      items[i].output = piece(i == 1 ? second_output : 2 * i + 1);
      items[i].output_capacity = kRoom;
    }
    for (const auto& call : std::vector<std::function<hemstitch_status()>>{
             [&] { return hemstitch_compress_many(nullptr, items.data(), items.size()); },
             [&] { return hemstitch_restore_many(nullptr, items.data(), items.size()); },
             [&] { return hemstitch_compress_lz4_blocks(nullptr, items.data(), items.size()); },
             [&] { return hemstitch_restore_lz4_blocks(nullptr, items.data(), items.size()); }})
      expect_refused("many", memory, call);
    // Side by side they are accepted.
    items[1].output = piece(3);
    EXPECT_EQ(hemstitch_compress_many(nullptr, items.data(), items.size()), HEMSTITCH_OK) << message();
  }
  const std::vector<std::uint32_t> sizes{1000, 1000};
  const std::vector<std::uint64_t> offsets{0, 1000};
  const std::vector<const std::byte*> sources{piece(0), piece(1)};
  expect_refused("gather_pieces", memory, std::function<void()>([&] {
                   gather_pieces(sources, sizes, offsets, {piece(1) + 999 - 1000, 2 * kRoom});
                 }));
  std::vector<std::byte*> targets{piece(5), piece(1) - 1};
  expect_refused("scatter_pieces", memory, std::function<void()>([&] {
                   scatter_pieces({piece(1), 2 * kRoom}, offsets, sizes, targets);
                 }));
  // What lies in the span before its first piece is not written, so it may be a source.
  const std::vector<std::uint64_t> later{1000, 2000};
  const std::vector<const std::byte*> apart{piece(0), piece(2)};
  gather_pieces(apart, sizes, later, {piece(0), 2 * kRoom});
  EXPECT_TRUE(std::equal(piece(0), piece(0) + 1000, piece(0) + 1000));
}

TEST(OverlappingOutputs, AreRefusedByBatchesOfPages) {
  Bytes memory = wordy_bytes(20 * 4096);
  PageBatchOptions options;
  options.backend = "cpu";
  const PageBatch batch(options);
  std::vector<const std::byte*> pages{memory.data(), memory.data() + 4096};
  std::vector<KeptPage> entries(2);
  expect_refused("PageBatch::compress", memory, std::function<void()>([&] {
                   batch.compress(pages, {memory.data() + 2 * 4096 - 1, 2 * 4096}, entries);
                 }));
  std::vector<std::byte*> targets{memory.data(), memory.data() + 4096};
  expect_refused("PageBatch::restore", memory, std::function<void()>([&] {
                   batch.restore({memory.data() + 2 * 4096 - 1, 2 * 4096}, entries, targets);
                 }));
}

// ---- Functions of the caller ----

int throw_number(void*, const void*, std::size_t) { throw 42; }
int throw_number_of_progress(void*, std::uint64_t, std::uint64_t) { throw 42; }
int throw_number_of_read(void*, std::uint64_t, void*, std::size_t, std::size_t*) { throw 42; }
int throw_number_of_open(void*, std::size_t) { throw 42; }

void expect_internal(hemstitch_status status) {
  EXPECT_EQ(status, HEMSTITCH_INTERNAL);
  EXPECT_NE(message().find("no std::exception"), std::string::npos) << message();
}

TEST(CallersFunctions, MayThrowWhatIsNoStdException) {
  const Bytes content = random_bytes(3'000'000), frame = compress(content);
  for (const unsigned threads : {1u, 2u}) {
    hemstitch_compress_options compressing{};
    compressing.size = sizeof compressing;
    compressing.threads = threads;
    hemstitch_restore_options restoring{};
    restoring.size = sizeof restoring;
    restoring.threads = threads;
    expect_internal(hemstitch_restore_to(&restoring, frame.data(), frame.size(), throw_number, nullptr));
    hemstitch_range_reader* reader = nullptr;
    expect_internal(
        hemstitch_range_reader_new_from(&restoring, throw_number_of_read, nullptr, frame.size(), &reader));
    hemstitch_compressor* compressor = nullptr;
    ASSERT_EQ(hemstitch_compressor_new(&compressing, throw_number, nullptr, &compressor), HEMSTITCH_OK);
    hemstitch_status status = HEMSTITCH_OK;
    for (int i = 0; i < 3 && status == HEMSTITCH_OK; ++i)
      status = hemstitch_compressor_write(compressor, content.data(), content.size());
    expect_internal(status);
    EXPECT_EQ(hemstitch_compressor_finish(compressor), HEMSTITCH_WRONG_STATE);
    hemstitch_compressor_free(compressor);
    hemstitch_decompressor* decompressor = nullptr;
    ASSERT_EQ(hemstitch_decompressor_new(&restoring, throw_number, nullptr, &decompressor), HEMSTITCH_OK);
    status = hemstitch_decompressor_write(decompressor, frame.data(), frame.size());
    if (status == HEMSTITCH_OK) status = hemstitch_decompressor_finish(decompressor);
    expect_internal(status);
    hemstitch_decompressor_free(decompressor);
    compressing.progress = restoring.progress = throw_number_of_progress;
    Bytes room(2 * content.size());
    std::size_t bytes = 0;
    expect_internal(hemstitch_compress_with(&compressing, content.data(), content.size(), room.data(),
                                            room.size(), &bytes));
    expect_internal(
        hemstitch_restore_with(&restoring, frame.data(), frame.size(), room.data(), room.size(), &bytes));
    const char* const path = "/";
    hemstitch_load_options loading{};
    loading.size = sizeof loading;
    loading.threads = threads;
    loading.open_file = throw_number_of_open;
    hemstitch_files files{};
    expect_internal(hemstitch_load_files(&path, 1, &loading, &files));
  }
}

int end_thread(void*, const void*, std::size_t) { pthread_exit(nullptr); }

// What glibc throws to end a thread must pass: it ends the process otherwise.
TEST(CallersFunctions, MayEndTheirThread) {
  pthread_t thread;
  const auto run = [](void*) -> void* {
    static const Bytes frame = compress(wordy_bytes(1'000'000));
    hemstitch_restore_options options{};
    options.size = sizeof options;
    options.threads = 1;
    hemstitch_restore_to(&options, frame.data(), frame.size(), end_thread, nullptr);
    static int not_ended = 1;
    return &not_ended;
  };
  ASSERT_EQ(pthread_create(&thread, nullptr, run, nullptr), 0);
  void* result = nullptr;
  ASSERT_EQ(pthread_join(thread, &result), 0);
  EXPECT_EQ(result, nullptr);
}

// ---- A child of fork() ----

// Runs `call` in a child; false if it throws, crashes, or does not return.
bool ends_in_child(const std::function<bool()>& call) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    bool good = false;
    try {
      good = call();
    } catch (...) {
    }
    _exit(good ? 0 : 1);
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(ForkedChildren, DoNotWaitForTheThreadsOfAStream) {
  CompressOptions compressing;
  compressing.format = Format::kGzip;
  compressing.level = 1;
  const Bytes content = wordy_bytes(20'000'000), file = compress(content, compressing);
  RestoreOptions options;
  options.backend = "cpu";
  options.threads = 4;
  Bytes restored;
  auto stream = std::make_unique<Decompressor>(options, [&](std::span<const std::byte> piece) {
    restored.insert(restored.end(), piece.begin(), piece.end());
  });
  const std::span<const std::byte> rest = std::span(file).subspan(file.size() / 2);
  stream->write(std::span(file).first(file.size() / 2));
  EXPECT_TRUE(ends_in_child([&] {
    stream.reset();
    return true;
  }));
  EXPECT_TRUE(ends_in_child([&] {
    try {
      stream->write(rest);
    } catch (const Error& error) {
      return error.status() == Status::kWrongState;
    }
    return false;
  }));
  // The parent's goes on.
  stream->write(rest);
  stream->finish();
  EXPECT_TRUE(restored == content);
}

TEST(ForkedChildren, GoOnWithWhatHasNoThread) {
  const Bytes content = mixed_bytes(3'000'000), frame = compress(content);
  RestoreOptions options;
  options.backend = "cpu";
  options.threads = 1;
  const RangeReader reader(frame, options);
  Bytes restored;
  Decompressor stream(options, [&](std::span<const std::byte> piece) {
    restored.insert(restored.end(), piece.begin(), piece.end());
  });
  stream.write(std::span(frame).first(frame.size() / 2));
  EXPECT_TRUE(ends_in_child([&] {
    Bytes part(1000);
    return reader.read(1'234'567, part) == part.size() &&
           std::equal(part.begin(), part.end(), content.begin() + 1'234'567);
  }));
  EXPECT_TRUE(ends_in_child([&] {
    stream.write(std::span(frame).subspan(frame.size() / 2));
    stream.finish();
    return restored == content;
  }));
}

// ---- Enumerations and pointers ----

// As C may pass it. (Only UndefinedBehaviorSanitizer tells whether it is read as an enumerator.)
template <class Enumeration>
Enumeration holding(int number) {
  Enumeration made{};
  std::memcpy(&made, &number, sizeof number);
  return made;
}

TEST(Enumerations, MayHoldAnyNumber) {
  const Bytes content(100);
  Bytes room(1000);
  std::size_t bytes = 0;
  for (const int number : {-1, 7, 8, 9, 1000, INT_MAX, INT_MIN}) {
    const auto format = holding<hemstitch_format>(number);
    EXPECT_EQ(hemstitch_compress_bound_of(format, 5), UINT64_MAX);
    hemstitch_compress_options compressing{};
    compressing.size = sizeof compressing;
    compressing.format = format;
    EXPECT_EQ(hemstitch_compress_with(&compressing, content.data(), content.size(), room.data(), room.size(),
                                      &bytes),
              HEMSTITCH_INVALID_OPTION);
    hemstitch_restore_options restoring{};
    restoring.size = sizeof restoring;
    restoring.format = format;
    EXPECT_EQ(
        hemstitch_restore_with(&restoring, content.data(), content.size(), room.data(), room.size(), &bytes),
        HEMSTITCH_INVALID_OPTION);
    hemstitch_range_reader* reader = nullptr;
    EXPECT_EQ(hemstitch_range_reader_new(&restoring, content.data(), content.size(), &reader),
              HEMSTITCH_INVALID_OPTION);
    EXPECT_STREQ(hemstitch_status_text(holding<hemstitch_status>(number)), "unknown status");
    hemstitch_backend_figures figures{};
    int known = 0;
    hemstitch_backend_facts facts{};
    hemstitch_default_figures(&facts, format, &figures, &known);  // any status
  }
}

TEST(Pointers, ThatMustBeThereAreMissedByName) {
  const Bytes content = wordy_bytes(1000), frame = compress(content);
  std::uint64_t size = 0;
  EXPECT_EQ(hemstitch_restored_size(frame.data(), frame.size(), nullptr), HEMSTITCH_INVALID_OPTION);
  EXPECT_NE(message().find("restored_bytes is NULL"), std::string::npos) << message();
  // The pointer is missed before any work.
  const Bytes damaged(10);
  EXPECT_EQ(hemstitch_restored_size(damaged.data(), damaged.size(), nullptr), HEMSTITCH_INVALID_OPTION);
  EXPECT_EQ(hemstitch_restored_size(nullptr, 5, &size), HEMSTITCH_INVALID_OPTION);
  EXPECT_EQ(hemstitch_restored_size(nullptr, 0, &size), HEMSTITCH_TRUNCATED);
}

// What a status advises names nothing but the library.
TEST(StatusTexts, NameNoOptionOfTheTool) {
  for (int number = 0; number < 800; ++number) {
    const std::string text = hemstitch_status_text(holding<hemstitch_status>(number));
    for (const char* const word : {"hemstitch ", "--", "(-", "-D", "tools/"})
      EXPECT_EQ(text.find(word), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace hemstitch::testing
