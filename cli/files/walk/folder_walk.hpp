// Walks through folders, for all commands. Arguments and the contents of folders come in order, those of one
// folder in the order of names. Several folders are listed at once and ahead, so the first files come while
// others are still being found.
//
// A command says how folders are opened (Folder::Way), and by WalkRules which of their entries it takes.
// Folders in folders are entered, including links if the way follows links. A link to a folder around it is
// reported, not entered.
#pragma once

#include <tbb/task_arena.h>

#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "cli/files/tasks_ahead.hpp"
#include "cli/files/walk/folder.hpp"
#include "cli/files/walk/folder_entries.hpp"

namespace hemstitch::cli {

struct WalkRules {
  // Removes entries of a folder that the command does not take. They come in the order of names, with links
  // resolved if they are followed. Called from many threads.
  std::function<void(const std::shared_ptr<const Folder>& folder, std::vector<FolderEntry>& entries)> choose;
  std::size_t most_entries = static_cast<std::size_t>(-1);  // in a run
  bool each_folder_once = false;                            // even if several arguments lead to it
};

// Consecutive entries of one folder that are not folders; or a folder that could not be read.
struct WalkRun {
  std::shared_ptr<const Folder> folder;
  bool named = false;                // by the user; otherwise found in the folder
  std::span<FolderEntry> entries;    // they live as long as the walk
  std::string complaint = {};        // why the folder could not be read; then there are no entries
  std::string complaint_about = {};  // the folder, as in messages
  bool is_warning = false;           // the complaint is not an error
};

// One thread at a time.
class FolderWalk {
 public:
  // The arena's threads list folders.
  FolderWalk(WalkRules rules, tbb::task_arena& arena);

  // Adds what the user named; add everything before the first next(). `shown` is the folder's name in
  // messages.
  void add_file(const std::shared_ptr<const Folder>& folder, FolderEntry entry);
  void add_folder(std::shared_ptr<const Folder> folder, std::string shown);

  // Nothing at the end.
  std::optional<WalkRun> next();

 private:
  struct Listing {
    struct Inside {
      std::size_t entries_before;  // of the entries of the folder around it
      Listing* listing;
    };

    std::shared_ptr<const Folder> folder;
    bool named = false;  // its entries were named by the user: it is never listed
    std::string shown = {};

    std::once_flag listed = {};  // the members below are set after that
    std::vector<FolderEntry> entries = {};
    std::vector<Inside> folders = {};
    std::string complaint = {};
    bool is_warning = false;
    std::exception_ptr failure = {};  // memory ran out
  };
  struct Place {  // the part of a folder that was not returned yet
    Listing* listing;
    bool entered = false;
    std::size_t next_entry = 0, next_folder = 0;
  };

  Listing& add_listing(std::shared_ptr<const Folder> folder, bool named);
  void list(Listing& listing);
  void read_entries(Listing& listing);
  void list_ahead(const Listing& listing);
  bool is_first_time(const Listing& listing);

  WalkRules rules_;
  std::mutex listings_mutex_;
  std::deque<Listing> listings_;  // in one list, since a tree may be deeper than the stack
  Listing& top_;                  // holds the arguments, as if they were in one folder
  std::vector<Place> places_;     // the innermost folder last
  std::set<Folder::Identity> seen_;
  TasksAhead ahead_;  // ends before the listings do
};

}  // namespace hemstitch::cli
