// Implements search.h with search.hpp.
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/c/c_options.hpp"
#include "api/c/webgpu_c.hpp"
#include "core/messages.hpp"
#include "hemstitch/search.h"
#include "hemstitch/search.hpp"

struct hemstitch_searcher {
  hemstitch::TextSearcher searcher;
};

namespace hemstitch {
namespace {

static_assert(HEMSTITCH_SEARCH_WHETHER == static_cast<int>(SearchOptions::Wanted::kWhether));
static_assert(HEMSTITCH_SEARCH_BINARY_NO_MATCH == static_cast<int>(SearchOptions::Binary::kNoMatch));

SearchOptions options_of(const hemstitch_search_options* given) {
  needed(given, "options");
  const auto all = sized(given, "options");
  need_for(all.pattern_count, all.patterns, "options.patterns");
  SearchOptions options;
  for (std::size_t i = 0; i < all.pattern_count; ++i) {
    const std::size_t bytes = all.pattern_bytes != nullptr ? all.pattern_bytes[i] : 1;
    need_for(bytes, all.patterns[i], "a pattern");
    options.patterns.emplace_back(bytes != 0 ? all.patterns[i] : "",
                                  all.pattern_bytes != nullptr ? bytes : std::strlen(all.patterns[i]));
  }
  const auto check = [](std::int32_t value, std::int32_t last, std::string_view name) {
    if (value < 0 || value > last)
      throw Error(Status::kInvalidOption, out_of_range(fmt::format("options.{}", name), value, 0, last));
    return value;
  };
  options.ignore_case = all.ignore_case != 0;
  options.whole_words = all.whole_words != 0;
  options.whole_lines = all.whole_lines != 0;
  options.invert = all.invert != 0;
  if (all.most_lines != 0) options.most_lines = all.most_lines;
  options.wanted = static_cast<SearchOptions::Wanted>(check(all.wanted, HEMSTITCH_SEARCH_WHETHER, "wanted"));
  options.binary =
      static_cast<SearchOptions::Binary>(check(all.binary, HEMSTITCH_SEARCH_BINARY_NO_MATCH, "binary"));
  options.before = all.before;
  options.after = all.after;
  options.matches = all.matches != 0;
  options.decompress = all.decompress != 0;
  if (all.backend != nullptr) options.backend = all.backend;
  if (all.device != nullptr) options.device = all.device;
  options.threads = all.threads;
  options.between_pieces = between_pieces_of(all.between_pieces, all.between_pieces_context);
  return options;
}

// What was found, and the same in the form that C reads. Nothing moves once it is made.
struct FoundTexts {
  std::vector<SearchedText> texts;
  std::vector<std::vector<std::vector<hemstitch_search_match>>> line_matches;
  std::vector<std::vector<hemstitch_searched_line>> lines;
  std::vector<hemstitch_searched_text> for_c;
  std::vector<hemstitch_search_match> matches;
};

std::vector<hemstitch_search_match> matches_for_c(std::span<const SearchMatch> matches) {
  std::vector<hemstitch_search_match> made;
  made.reserve(matches.size());
  for (const SearchMatch& match : matches) made.push_back({match.position, match.bytes});
  return made;
}

void give(std::unique_ptr<FoundTexts> found, hemstitch_search_results* results) {
  *results = {found->for_c.data(), found->for_c.size(), found->matches.data(), found->matches.size(),
              nullptr};
  results->owner = found.release();
}

void give_texts(std::vector<SearchedText> texts, hemstitch_search_results* results) {
  auto found = std::make_unique<FoundTexts>();
  found->texts = std::move(texts);
  for (const SearchedText& text : found->texts) {
    auto& line_matches = found->line_matches.emplace_back();
    auto& lines = found->lines.emplace_back();
    for (const SearchedLine& line : text.lines) {
      const auto& matches = line_matches.emplace_back(matches_for_c(line.matches));
      lines.push_back({line.number, line.byte, line.text.c_str(), line.text.size(), line.selected,
                       matches.data(), matches.size()});
    }
    found->for_c.push_back({text.count, lines.data(), lines.size(), text.in_binary,
                            text.error.empty() ? nullptr : text.error.c_str()});
  }
  give(std::move(found), results);
}

void give_matches(std::span<const SearchMatch> matches, hemstitch_search_results* results) {
  auto found = std::make_unique<FoundTexts>();
  found->matches = matches_for_c(matches);
  give(std::move(found), results);
}

const TextSearcher& checked(const hemstitch_searcher* searcher) {
  return needed(searcher, "searcher")->searcher;
}

std::span<const std::uint64_t> checked_offsets(const std::uint64_t* offsets, std::size_t count) {
  return {needed(offsets, "offsets"), count + 1};
}

// The last offset is where the texts end.
std::span<const std::byte> checked_texts(const void* texts, std::span<const std::uint64_t> offsets) {
  need_for(offsets.back(), texts, "texts");
  return bytes_of(texts, offsets.back());
}

CudaTexts cuda_texts(const hemstitch_cuda_texts* texts) {
  needed(texts, "texts");
  return {.d_bytes = static_cast<const std::byte*>(texts->d_bytes),
          .bytes = texts->bytes,
          .d_offsets = texts->d_offsets,
          .count = texts->count};
}

}  // namespace
}  // namespace hemstitch

using namespace hemstitch;

extern "C" {

void hemstitch_search_results_free(hemstitch_search_results* results) {
  if (results == nullptr) return;
  delete static_cast<FoundTexts*>(results->owner);
  *results = {};
}

hemstitch_status hemstitch_searcher_new(const hemstitch_search_options* options,
                                        hemstitch_searcher** searcher) {
  return guarded([&] {
    needed(searcher, "searcher");
    *searcher = new hemstitch_searcher{TextSearcher(options_of(options))};
  });
}

hemstitch_status hemstitch_searcher_new_on_webgpu(const hemstitch_search_options* options,
                                                  const hemstitch_webgpu_device* device,
                                                  hemstitch_searcher** searcher) {
  return guarded([&] {
    needed(searcher, "searcher");
    *searcher = new hemstitch_searcher{TextSearcher(options_of(options), needed(device, "device")->device)};
  });
}

void hemstitch_searcher_free(hemstitch_searcher* searcher) { delete searcher; }

hemstitch_status hemstitch_search_text(const hemstitch_searcher* searcher, const void* text,
                                       size_t text_bytes, hemstitch_search_results* results) {
  return guarded([&] {
    needed(results, "results");
    need_for(text_bytes, text, "text");
    std::vector<SearchedText> texts;
    texts.push_back(checked(searcher).search({static_cast<const char*>(text), text_bytes}));
    give_texts(std::move(texts), results);
  });
}

hemstitch_status hemstitch_search_texts(const hemstitch_searcher* searcher, const void* texts,
                                        const uint64_t* offsets, size_t count,
                                        hemstitch_search_results* results) {
  return guarded([&] {
    needed(results, "results");
    const auto places = checked_offsets(offsets, count);
    give_texts(checked(searcher).search(checked_texts(texts, places), places), results);
  });
}

hemstitch_status hemstitch_search_files(const hemstitch_searcher* searcher, const char* const* paths,
                                        size_t count, hemstitch_search_results* results) {
  return guarded([&] {
    needed(results, "results");
    need_for(count, paths, "paths");
    std::vector<std::string> names;
    for (size_t i = 0; i < count; ++i) names.emplace_back(needed(paths[i], "a path"));
    give_texts(checked(searcher).search_files(names), results);
  });
}

hemstitch_status hemstitch_find_in_texts(const hemstitch_searcher* searcher, const void* texts,
                                         const uint64_t* offsets, size_t count,
                                         hemstitch_search_results* results) {
  return guarded([&] {
    needed(results, "results");
    const auto places = checked_offsets(offsets, count);
    give_matches(checked(searcher).find(checked_texts(texts, places), places), results);
  });
}

hemstitch_status hemstitch_find_in_webgpu_texts(const hemstitch_searcher* searcher, void* buffer,
                                                const uint64_t* offsets, size_t count,
                                                hemstitch_search_results* results) {
  return guarded([&] {
    needed(results, "results");
    const WebgpuTexts texts{.bytes = needed(buffer, "buffer"), .offsets = checked_offsets(offsets, count)};
    give_matches(checked(searcher).find(texts), results);
  });
}

hemstitch_status hemstitch_search_temp_bytes(const hemstitch_searcher* searcher,
                                             const hemstitch_cuda_texts* texts, size_t* temp_bytes) {
  return guarded(
      [&] { *needed(temp_bytes, "temp_bytes") = checked(searcher).temp_bytes(cuda_texts(texts)); });
}

hemstitch_status hemstitch_search_count_async(const hemstitch_searcher* searcher,
                                              const hemstitch_cuda_texts* texts, uint64_t* d_count,
                                              void* d_temp, size_t temp_bytes, CUstream_st* stream) {
  return guarded([&] {
    checked(searcher).count_async(cuda_texts(texts), needed(d_count, "d_count"), d_temp, temp_bytes, stream);
  });
}

hemstitch_status hemstitch_search_write_async(const hemstitch_searcher* searcher,
                                              const hemstitch_cuda_texts* texts, uint64_t* d_matches,
                                              uint64_t room, void* d_temp, size_t temp_bytes,
                                              CUstream_st* stream) {
  return guarded([&] {
    need_for(room, d_matches, "d_matches");
    checked(searcher).write_async(cuda_texts(texts), d_matches, room, d_temp, temp_bytes, stream);
  });
}

}  // extern "C"
