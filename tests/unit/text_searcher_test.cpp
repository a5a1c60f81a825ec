// The public search, compared with a plain reading of lines, in memory and in files, and what it refuses.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "hemstitch/files.hpp"
#include "hemstitch/search.hpp"
#include "threads.hpp"

namespace hemstitch {
namespace {

std::string lower(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

bool is_word(const std::string& text, std::size_t at) {
  return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
}

// Whether a line matches; tries every pattern at every position.
bool matches_plainly(std::string line, const SearchOptions& options) {
  if (options.ignore_case) line = lower(line);
  for (std::string pattern : options.patterns) {
    if (options.ignore_case) pattern = lower(pattern);
    for (std::size_t at = 0; at + pattern.size() <= line.size(); ++at) {
      if (line.compare(at, pattern.size(), pattern) != 0) continue;
      const bool whole_line = pattern.size() == line.size();
      const bool whole_word = (at == 0 || !is_word(line, at - 1)) && !is_word(line, at + pattern.size());
      if (options.whole_lines ? whole_line : !options.whole_words || whole_word) return true;
    }
  }
  return false;
}

// The expected result for a text without zero bytes, as text.
std::string plainly(const std::string& text, const SearchOptions& options) {
  struct Line {
    std::size_t begin, end;
    bool selected;
  };
  std::vector<Line> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(
        {begin, end, matches_plainly(text.substr(begin, end - begin), options) != options.invert});
    begin = end + 1;
  }
  std::uint64_t count = 0;
  std::vector<char> is_given(lines.size(), 0);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].selected && count == options.most_lines) lines[i].selected = false;
    if (!lines[i].selected) continue;
    ++count;
    for (std::size_t j = i - std::min<std::size_t>(i, options.before);
         j <= i + options.after && j < lines.size(); ++j)
      is_given[j] = 1;
  }
  std::string found;
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (is_given[i])
      found += std::to_string(i + 1) + (lines[i].selected ? ":" : "-") + std::to_string(lines[i].begin) +
               ":" + text.substr(lines[i].begin, lines[i].end - lines[i].begin) + ";";
  return found + std::to_string(count);
}

std::string shown(const SearchedText& text) {
  std::string found;
  for (const SearchedLine& line : text.lines)
    found += std::to_string(line.number) + (line.selected ? ":" : "-") + std::to_string(line.byte) + ":" +
             line.text + ";";
  return found + std::to_string(text.count);
}

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "hemstitch-searcher-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string add(const std::string& name, std::span<const std::byte> content) const {
    std::string path = path_ + "/" + name;
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(content.data()), static_cast<std::streamsize>(content.size()));
    return path;
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Texts of all kinds in one buffer: with a call for each, with one call for all, and as files.
TEST_WITH_THREADS(TextSearcher, FindsTheLinesThatAPlainReadingFinds) {
  std::mt19937 random(5);
  const Folder folder;
  for (int round = 0; round < 60; ++round) {
    SearchOptions options;
    const std::string letters = "abAB_ .\n";
    for (std::size_t count = 1 + random() % 3; count > 0; --count) {
      std::string pattern(1 + random() % 3, 'a');
      for (char& c : pattern) c = letters[random() % (letters.size() - 1)];
      options.patterns.push_back(pattern);
    }
    options.ignore_case = random() % 2 == 0;
    options.whole_lines = random() % 4 == 0;
    // Only one pattern: at a position with several, grep's -w tries the longest first (LineSearch,
    // TriesShorterPatterns).
    options.whole_words = random() % 3 == 0;
    if (options.whole_words) options.patterns.resize(1);
    options.invert = random() % 3 == 0;
    if (random() % 3 == 0) options.before = random() % 3, options.after = random() % 3;
    if (random() % 4 == 0) options.most_lines = random() % 5;
    options.threads = 1 + random() % 4;
    std::string all;
    std::vector<std::string> texts, paths;
    std::vector<std::uint64_t> offsets{0};
    for (int i = 0; i < 40; ++i) {
      std::string text(random() % 200, ' ');
      for (char& c : text) c = letters[random() % letters.size()];
      all += text;
      offsets.push_back(all.size());
      paths.push_back(folder.add(std::to_string(i), bytes_of(text)));
      texts.push_back(text);
    }
    const TextSearcher searcher(options);
    const auto found = searcher.search(bytes_of(all), offsets);
    const auto in_files = searcher.search_files(paths);
    ASSERT_EQ(found.size(), texts.size());
    ASSERT_EQ(in_files.size(), texts.size());
    for (std::size_t i = 0; i < texts.size(); ++i) {
      std::string expected = plainly(texts[i], options);
      if (options.most_lines == 0) expected = "0";
      ASSERT_EQ(shown(searcher.search(texts[i])), expected) << "'" << options.patterns.front() << "'";
      ASSERT_EQ(shown(found[i]), expected);
      ASSERT_EQ(shown(in_files[i]), expected);
    }
  }
}

TEST(TextSearcher, GivesMatchesAndPositions) {
  const std::string text = "one Two\ntwo two\nthree\n";
  SearchOptions options{.patterns = {"two", "o"}, .ignore_case = true, .matches = true};
  const SearchedText found = TextSearcher(options).search(text);
  ASSERT_EQ(found.lines.size(), 2u);
  EXPECT_EQ(found.lines[0].matches, (std::vector<SearchMatch>{{0, 1}, {4, 3}}));
  EXPECT_EQ(found.lines[1].matches, (std::vector<SearchMatch>{{0, 3}, {4, 3}}));
  // Overlapping matches, and none that crosses from one text into the next.
  const std::vector<std::uint64_t> offsets{0, 9, 9, text.size()};
  EXPECT_EQ(TextSearcher(options).find(bytes_of(text), offsets),
            (std::vector<SearchMatch>{{0, 1}, {4, 3}, {6, 1}, {10, 1}, {12, 3}, {14, 1}}));
  options.wanted = SearchOptions::Wanted::kCount;
  EXPECT_EQ(shown(TextSearcher(options).search(text)), "2");
  options.wanted = SearchOptions::Wanted::kWhether;
  EXPECT_EQ(shown(TextSearcher(options).search(text)), "1");
  options.patterns = {""};
  options.wanted = SearchOptions::Wanted::kLines;
  EXPECT_EQ(shown(TextSearcher(options).search(text)), "1:0:one Two;2:8:two two;3:16:three;3");
  EXPECT_TRUE(TextSearcher(options).find(bytes_of(text), offsets).empty());
}

TEST(TextSearcher, TellsOfBinaryTexts) {
  const std::string text("a\n\0a", 4);
  SearchOptions options{.patterns = {"a"}};
  EXPECT_TRUE(TextSearcher(options).search(text).in_binary);
  EXPECT_TRUE(TextSearcher(options).search(text).lines.empty());
  options.binary = SearchOptions::Binary::kText;
  EXPECT_EQ(TextSearcher(options).search(text).lines.size(), 2u);
  options.binary = SearchOptions::Binary::kNoMatch;
  EXPECT_EQ(TextSearcher(options).search(text).count, 0u);
}

// Includes a line that is longer than the buffer into which a file is first read.
TEST_WITH_THREADS(TextSearcher, SearchesFilesOfAnySize) {
  const Folder folder;
  std::string text;
  while (text.size() < 3'000'000) text += "some line " + std::to_string(text.size()) + "\n";
  text += std::string(2'000'000, 'x') + "needle\n";
  text += "needle";
  const std::string empty = folder.add("empty", {}), large = folder.add("large", bytes_of(text));
  const std::vector<std::string> paths{large, folder.path() + "/missing", empty, folder.path(), large};
  const TextSearcher searcher({.patterns = {"needle"}, .threads = 4});
  const auto found = searcher.search_files(paths);
  for (const std::size_t i : {0, 4}) {
    ASSERT_EQ(found[i].lines.size(), 2u);
    EXPECT_EQ(found[i].lines[0].text.size(), 2'000'006u);
    EXPECT_EQ(found[i].lines[1].byte, text.size() - 6);
    EXPECT_EQ(found[i].error, "");
  }
  EXPECT_EQ(found[1].error, "No such file or directory");
  EXPECT_EQ(found[2].error, "");
  EXPECT_EQ(found[2].count, 0u);
  EXPECT_EQ(found[3].error, "Is a directory");
}

TEST_WITH_THREADS(TextSearcher, SearchesInsideCompressedTexts) {
  std::string text;
  while (text.size() < 700'000) text += "some line " + std::to_string(text.size()) + "\n";
  CompressOptions linked;
  linked.linked_blocks = true;
  const auto frame = compress(bytes_of(text), linked);
  std::vector<std::byte> damaged(frame.begin(), frame.end() - 100'000 % frame.size());
  const Folder folder;
  const std::vector<std::string> paths{folder.add("whole", frame), folder.add("damaged", damaged)};
  const SearchOptions options{.patterns = {"699"}, .decompress = true, .threads = 2};
  const TextSearcher searcher(options);
  const std::string expected = plainly(text, options);
  EXPECT_EQ(shown(searcher.search({reinterpret_cast<const char*>(frame.data()), frame.size()})), expected);
  const auto found = searcher.search_files(paths);
  EXPECT_EQ(shown(found[0]), expected);
  EXPECT_EQ(found[0].error, "");
  EXPECT_NE(found[1].error, "");
}

// Longer texts in memory are searched in pieces of a MiB, files in smaller ones.
TEST(TextSearcher, TellsTheSameOfLongTextsInMemoryAndInFiles) {
  const Folder folder;
  std::mt19937 random(8);
  std::string text;
  while (text.size() < 2'500'000) {
    text.append(random() % 90, "ab _x"[random() % 5]);
    text += '\n';
  }
  text.replace(500'000, 1'200'000, 1'200'000, 'a');  // a line that is longer than a piece
  std::string binary = text;
  binary[2'200'000] = '\0';
  const std::vector<std::string> paths{folder.add("text", bytes_of(text)),
                                       folder.add("binary", bytes_of(binary))};
  for (int round = 0; round < 12; ++round) {
    SearchOptions options{.patterns = {round % 2 == 0 ? "xx" : "ab"}};
    options.invert = round % 3 == 0;
    options.before = options.after = round % 4;
    options.wanted = round % 5 == 0 ? SearchOptions::Wanted::kCount : SearchOptions::Wanted::kLines;
    options.binary = static_cast<SearchOptions::Binary>(round % 3);
    options.matches = round % 2 == 0;
    const TextSearcher searcher(options);
    const auto in_files = searcher.search_files(paths);
    for (const int i : {0, 1}) {
      const SearchedText found = searcher.search(i == 0 ? text : binary);
      ASSERT_EQ(shown(found), shown(in_files[i])) << round;
      EXPECT_EQ(found.in_binary, in_files[i].in_binary) << round;
      for (std::size_t j = 0; j < found.lines.size(); ++j)
        ASSERT_EQ(found.lines[j].matches, in_files[i].lines[j].matches) << round;
    }
  }
}

struct Stopped : std::exception {};

TEST_WITH_THREADS(TextSearcher, CallersCancelBetweenPieces) {
  const Folder folder;
  const std::string text(10'000'000, 'a');
  const auto frame = compress(bytes_of(text));
  const std::string_view packed(reinterpret_cast<const char*>(frame.data()), frame.size());
  const std::vector<std::string> paths{folder.add("a", bytes_of(text)), folder.add("b", frame),
                                       folder.add("c", bytes_of(text))};
  const std::vector<std::uint64_t> one{0, text.size()};
  std::vector<std::uint64_t> many;
  for (std::uint64_t at = 0; at <= text.size(); at += 100'000) many.push_back(at);
  const auto expect_stops = [&](const char* name, unsigned threads, const auto& call) {
    std::atomic<int> pieces = 0;
    // Also an exception that could be one text's error.
    for (const bool is_error : {false, true}) {
      SearchOptions options{.patterns = {"b"}, .decompress = true, .threads = threads};
      options.between_pieces = [&] {
        if (++pieces <= 3) return;
        if (is_error) throw Error(Status::kReadFailed, "stopped");
        throw Stopped();
      };
      const TextSearcher searcher(options);
      pieces = 0;
      if (is_error)
        EXPECT_THROW(call(searcher), Error) << name;
      else
        EXPECT_THROW(call(searcher), Stopped) << name;
      EXPECT_GT(pieces, 3) << name;
      EXPECT_LT(pieces, 9) << name;
    }
  };
  for (const unsigned threads : {1u, 3u}) {
    expect_stops("search", threads, [&](const TextSearcher& searcher) { searcher.search(text); });
    expect_stops("find", threads, [&](const TextSearcher& searcher) { searcher.find(bytes_of(text), one); });
    expect_stops("many", threads,
                 [&](const TextSearcher& searcher) { searcher.search(bytes_of(text), many); });
    expect_stops("files", threads, [&](const TextSearcher& searcher) { searcher.search_files(paths); });
    expect_stops("restored", threads, [&](const TextSearcher& searcher) { searcher.search(packed); });
  }
}

TEST_WITH_THREADS(TextSearcher, ServesManyThreads) {
  const TextSearcher searcher({.patterns = {"ab"}});
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < 50; ++round) EXPECT_EQ(searcher.search("ab\nb\nxab").count, 2u);
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(TextSearcher, RefusesWhatItCannotDo) {
  const auto status_of = [](const auto& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.status();
    }
    return Status::kOk;
  };
  EXPECT_EQ(status_of([] { TextSearcher({}); }), Status::kInvalidOption);
  EXPECT_EQ(status_of([] { TextSearcher({.patterns = {std::string(65536, 'a')}}); }), Status::kInvalidOption);
  EXPECT_EQ(status_of([] { TextSearcher({.patterns = {"a"}, .backend = "quantum"}); }),
            Status::kUnknownBackend);
  EXPECT_EQ(status_of([] { TextSearcher({.patterns = {""}, .backend = "quantum"}); }),
            Status::kUnknownBackend);
  const TextSearcher searcher({.patterns = {"a"}});
  const std::vector<std::uint64_t> wrong{0, 2, 1, 3}, less{0, 2};
  EXPECT_EQ(status_of([&] { searcher.search(bytes_of("aaa"), wrong); }), Status::kInvalidOption);
  EXPECT_EQ(status_of([&] { searcher.find(bytes_of("aaa"), less); }), Status::kInvalidOption);
  EXPECT_EQ(status_of([&] { static_cast<void>(searcher.temp_bytes(CudaTexts{})); }), Status::kInvalidOption);
  EXPECT_TRUE(searcher.search({}, {}).empty());
}

}  // namespace
}  // namespace hemstitch
