// Goes through folders, for all commands that take what is in them: what was named and what is in folders comes in order, that of one
// folder in the order of names. Folders are listed side by side and ahead, so the first files come while others are still looked for.
//
// A command says how folders are opened (Folder::Way), and by WalkRules what of their content it takes. Folders found in others are
// entered, links among them where the way leads through links; one that leads back to a folder around it is told of, not entered.
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

#include "cli/files/folder.hpp"
#include "cli/files/folder_entries.hpp"
#include "cli/files/tasks_ahead.hpp"

namespace hemstitch::cli {

struct WalkRules {
  // Of what is in a folder, in the order of names and with links resolved where they are followed: takes out what is nothing to the
  // command. From many threads.
  std::function<void(const std::shared_ptr<const Folder>& folder, std::vector<FolderEntry>& entries)> choose;
  std::size_t most_entries = static_cast<std::size_t>(-1);  // of a run
  bool each_folder_once = false;                            // also where several arguments lead to it
};

// What follows each other and is no folder, all in one folder; or a folder that could not be read.
struct WalkRun {
  std::shared_ptr<const Folder> folder;
  bool named = false;                // by the user, rather than found in the folder
  std::span<FolderEntry> entries;    // they live as long as the walk
  std::string complaint = {};        // why the folder could not be read; no entries then
  std::string complaint_about = {};  // the folder, as messages show it
  bool is_warning = false;           // the complaint is no error
};

// One thread at a time.
class FolderWalk {
 public:
  // The arena's threads list folders.
  FolderWalk(WalkRules rules, tbb::task_arena& arena);

  // What the user named, all of it before the first next(). `shown` is how messages call the folder.
  void add_file(const std::shared_ptr<const Folder>& folder, FolderEntry entry);
  void add_folder(std::shared_ptr<const Folder> folder, std::string shown);

  // Nothing at the end.
  std::optional<WalkRun> next();

 private:
  struct Listing {
    struct Inside {
      std::size_t entries_before;  // of those of the folder around it
      Listing* listing;
    };

    std::shared_ptr<const Folder> folder;
    bool named = false;  // what is in it was named by the user: it is never listed
    std::string shown = {};

    std::once_flag listed = {};  // what follows is known after that
    std::vector<FolderEntry> entries = {};
    std::vector<Inside> folders = {};
    std::string complaint = {};
    bool is_warning = false;
    std::exception_ptr failure = {};  // memory ran out
  };
  struct Place {  // what of a folder was not given yet
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
  std::deque<Listing> listings_;  // not each in the one around it: a tree may be deeper than the stack
  Listing& top_;                  // the arguments as if they were in one folder
  std::vector<Place> places_;     // the innermost folder last
  std::set<Folder::Identity> seen_;
  TasksAhead ahead_;  // ends before the listings do
};

}  // namespace hemstitch::cli
