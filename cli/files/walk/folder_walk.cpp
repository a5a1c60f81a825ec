#include "cli/files/walk/folder_walk.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "core/parallel.hpp"

namespace hemstitch::cli {
namespace {

// Whether the folder was reached through a link from inside itself.
bool is_loop(const Folder& folder) {
  const Folder::Identity identity = folder.identity();
  for (const Folder* around = folder.around(); around != nullptr; around = around->around())
    if (around->identity() == identity) return true;
  return false;
}

// A link gets the type of its target. A broken link is reported when it is opened.
void follow_links(const OpenFolder& folder, std::vector<FolderEntry>& entries) {
  for (FolderEntry& entry : entries) {
    if (entry.type != DT_LNK) continue;
    struct stat status {};
    const bool leads = fstatat(folder->number(), entry.name.c_str(), &status, 0) == 0;
    entry.type = static_cast<unsigned char>(IFTODT(leads ? status.st_mode : S_IFREG));
  }
}

}  // namespace

FolderWalk::FolderWalk(WalkRules rules, tbb::task_arena& arena)
    : rules_(std::move(rules)), top_(add_listing(nullptr, true)), ahead_(arena) {
  places_.push_back({&top_});
}

FolderWalk::Listing& FolderWalk::add_listing(std::shared_ptr<const Folder> folder, bool named) {
  const std::lock_guard lock(listings_mutex_);
  Listing& listing = listings_.emplace_back();
  listing.folder = std::move(folder);
  listing.named = named;
  return listing;
}

void FolderWalk::add_file(const std::shared_ptr<const Folder>& folder, FolderEntry entry) {
  const bool is_next = !top_.folders.empty() && top_.folders.back().listing->named &&
                       top_.folders.back().listing->folder == folder;
  if (!is_next) top_.folders.push_back({0, &add_listing(folder, true)});
  top_.folders.back().listing->entries.push_back(std::move(entry));
}

void FolderWalk::add_folder(std::shared_ptr<const Folder> folder, std::string shown) {
  Listing& listing = add_listing(std::move(folder), false);
  listing.shown = std::move(shown);
  top_.folders.push_back({0, &listing});
  ahead_.run([this, &listing] { list(listing); });
}

std::optional<WalkRun> FolderWalk::next() {
  while (!places_.empty()) {
    Place& place = places_.back();
    Listing& listing = *place.listing;
    if (!std::exchange(place.entered, true)) {
      if (!listing.named) list(listing);
      if (listing.failure) std::rethrow_exception(listing.failure);
      if (!is_first_time(listing)) {
        places_.pop_back();
        continue;
      }
      if (!listing.complaint.empty())
        return WalkRun{listing.folder,
                       false,
                       {},
                       listing.complaint,
                       listing.shown.empty() ? listing.folder->path() : listing.shown,
                       listing.is_warning};
    }
    const bool has_folder = place.next_folder < listing.folders.size();
    const std::size_t end =
        has_folder ? listing.folders[place.next_folder].entries_before : listing.entries.size();
    if (place.next_entry < end) {
      const std::size_t begin = place.next_entry;
      const std::size_t count = std::min(end - begin, rules_.most_entries);
      place.next_entry += count;
      return WalkRun{listing.folder, listing.named, std::span(listing.entries).subspan(begin, count)};
    }
    if (has_folder)
      places_.push_back({listing.folders[place.next_folder++].listing});
    else
      places_.pop_back();
  }
  return std::nullopt;
}

// A folder that could not be opened has no identity, and is reported each time.
bool FolderWalk::is_first_time(const Listing& listing) {
  return !rules_.each_folder_once || listing.named || !listing.complaint.empty() ||
         seen_.insert(listing.folder->identity()).second;
}

// If another thread is listing the folder, this waits for it; that thread waits for nobody. An error is kept
// for the thread that asks for the files: thrown from here, it would pass through the C library's code of
// call_once(), or end in a task.
void FolderWalk::list(Listing& listing) {
  std::call_once(listing.listed, [&] {
    try {
      read_entries(listing);
      list_ahead(listing);
    } catch (...) {
      listing.failure = std::current_exception();
    }
  });
}

void FolderWalk::list_ahead(const Listing& listing) {
  for (const Listing::Inside& inside : listing.folders)
    ahead_.run([this, next = inside.listing] { list(*next); });
}

void FolderWalk::read_entries(Listing& listing) {
  const OpenFolder folder = listing.folder->open_to_list();
  if (!folder) {
    listing.complaint = std::generic_category().message(errno);
    return;
  }
  const bool through_links = listing.folder->way() == Folder::Way::kOwnThroughLinks;
  if (through_links && is_loop(*listing.folder)) {
    listing.complaint = "warning: recursive directory loop";
    listing.is_warning = true;
    return;
  }
  FolderEntries read = read_folder(folder->number());
  listing.complaint = std::move(read.complaint);
  if (through_links) follow_links(folder, read.entries);
  sort_in_parallel(read.entries.begin(), read.entries.end(),
                   [](const FolderEntry& a, const FolderEntry& b) { return a.name < b.name; });
  rules_.choose(listing.folder, read.entries);
  for (FolderEntry& entry : read.entries) {
    if (entry.type == DT_DIR)
      listing.folders.push_back(
          {listing.entries.size(),
           &add_listing(std::make_shared<Folder>(listing.folder, std::move(entry.name)), false)});
    else
      listing.entries.push_back(std::move(entry));
  }
}

}  // namespace hemstitch::cli
