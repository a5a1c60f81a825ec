// Which files and folders are taken by name: --include, --exclude and --exclude-dir, as in GNU grep.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hemstitch::cli {

class NameRules {
 public:
  // In the order of the arguments: the last pattern that matches a file's name decides. If none matches, a
  // file is taken unless the first pattern is an --include.
  void include(std::string pattern) { files_.push_back({std::move(pattern), true}); }
  void exclude(std::string pattern) { files_.push_back({std::move(pattern), false}); }
  void exclude_folder(std::string_view pattern);

  // An argument matches with its end from any '/' on, a file or folder in a folder with its name.
  bool takes_argument(const std::string& path) const { return takes(path, true); }
  bool takes_file(const std::string& name) const { return takes(name, false); }
  bool takes_folder_argument(const std::string& path) const { return takes_folder(path, true); }
  bool takes_folder(const std::string& name) const { return takes_folder(name, false); }

 private:
  struct Rule {
    std::string pattern;
    bool include;
  };

  bool takes(const std::string& name, bool argument) const;
  bool takes_folder(const std::string& name, bool argument) const;

  std::vector<Rule> files_;
  std::vector<std::string> excluded_folders_;
};

}  // namespace hemstitch::cli
