// What the tests of valid data share.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "hemstitch/hemstitch.hpp"
#include "tried_one_of.hpp"
#include "valid_data.hpp"

namespace hemstitch::testing {

inline constexpr std::size_t kSmallBytes = 5000, kLargeBytes = 300'000;

// Calls expect(made) with data of many seeds, of which some is large.
template <class Expect>
void for_many_seeds(ValidDataGenerator& make, const Expect& expect) {
  for (const auto& [seeds, most_bytes] : {std::pair{2000U, kSmallBytes}, {40U, kLargeBytes}})
    for (std::uint64_t seed = 0; seed < seeds && !::testing::Test::HasFailure(); seed += kTriedOneOf) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", at most " + std::to_string(most_bytes) + " bytes");
      expect(make(seed, most_bytes));
    }
}

inline void expect_by_backends(const ValidData& made, RestoreOptions options) {
  options.dictionary = made.dictionary;
  for (const char* backend : {"cpu", "reference"}) {
    options.backend = backend;
    try {
      EXPECT_TRUE(restore(made.data, options) == made.content) << backend;
    } catch (const Error& error) {
      ADD_FAILURE() << backend << ": " << error.what();
    }
  }
}

inline void expect_the_same_each_time(ValidDataGenerator& make) {
  const ValidData first = make(7, kSmallBytes), again = make(7, kSmallBytes);
  EXPECT_TRUE(first.data == again.data && first.content == again.content &&
              first.dictionary == again.dictionary);
  // Others are other data. Two may be empty.
  EXPECT_FALSE(first.data == make(8, kSmallBytes).data && first.data == make(9, kSmallBytes).data);
}

// What was seen among data, as words.
class SeenWords {
 public:
  void see(const std::string& what) { ++counts_[what]; }
  std::vector<std::string> missing(const std::vector<std::string>& wanted) const {
    std::vector<std::string> missing;
    for (const std::string& what : wanted)
      if (!counts_.contains(what)) missing.push_back(what);
    return missing;
  }

 private:
  std::map<std::string, int> counts_;
};

}  // namespace hemstitch::testing
