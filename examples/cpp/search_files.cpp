// Lists the lines of files that hold any of some words, whatever their case, and how often the first word stands in all of them.
//
//   search_files WORD,WORD,... FILE...
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "hemstitch/files.hpp"
#include "hemstitch/search.hpp"

int main(int argc, char** argv) try {
  if (argc < 3) {
    std::fprintf(stderr, "usage: search_files WORD,WORD,... FILE...\n");
    return 2;
  }
  std::vector<std::string> words;
  for (std::string rest = argv[1]; !rest.empty();) {
    const std::size_t comma = rest.find(',');
    words.push_back(rest.substr(0, comma));
    rest = comma == std::string::npos ? "" : rest.substr(comma + 1);
  }
  const std::vector<std::string> paths(argv + 2, argv + argc);

  // Files of any size, each read piece by piece.
  const hemstitch::TextSearcher searcher({.patterns = words, .ignore_case = true, .matches = true});
  const std::vector<hemstitch::SearchedText> found = searcher.search_files(paths);
  for (std::size_t i = 0; i < paths.size(); ++i) {
    for (const hemstitch::SearchedLine& line : found[i].lines)
      std::printf("%s:%llu:%zu matches: %s\n", paths[i].c_str(), static_cast<unsigned long long>(line.number),
                  line.matches.size(), line.text.c_str());
    if (!found[i].error.empty()) std::fprintf(stderr, "%s: %s\n", paths[i].c_str(), found[i].error.c_str());
  }

  // Many small files in one buffer; with .backend = "cuda" or "webgpu" a GPU looks through it.
  const hemstitch::TextSearcher first_word({.patterns = {words.front()}});
  const hemstitch::CompactedBuffer files = hemstitch::load_files(paths);
  std::printf("'%s' stands at %zu places of %zu files\n", words.front().c_str(),
              first_word.find(files.bytes(), files.offsets()).size(), files.count());
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "search_files: %s\n", error.what());
  return 1;
}
