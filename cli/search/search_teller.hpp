// Writes the reports on files in their order: those that wait in memory, and everything on a file whose turn
// has come.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "cli/search/search_memory.hpp"
#include "cli/search/search_report.hpp"
#include "cli/search/search_request.hpp"
#include "cli/search/search_room.hpp"
#include "core/large_buffer.hpp"

namespace hemstitch::cli {

// With kExitTrouble, these are grep's exit statuses, not those of the other commands.
inline constexpr int kExitFound = 0;
inline constexpr int kExitNothingFound = 1;

// Reports that wait for their turn, as many as there is room for. Any number of threads may use it.
class WaitingRoom : public SearchRoom {
 public:
  explicit WaitingRoom(std::uint64_t bytes) : bytes_(bytes) {}

  bool full() const { return waiting_bytes_ >= bytes_; }
  // The report's output has grown.
  void count(FileReport& report);
  // The report no longer waits.
  void leave(const FileReport& report) { waiting_bytes_ -= report.counted_bytes; }

  void grown(FileReport& report) override;
  void add_long(FileReport& report, std::string_view text) override;
  [[noreturn]] void complain(FileReport&, const std::string&) override { throw MustWait(); }
  bool lines_before() const override { return false; }
  std::span<std::byte> more_memory() override { throw MustWait(); }
  std::uint64_t restoring_bytes(std::uint64_t all_bytes) const override;

 private:
  std::uint64_t bytes_;
  std::atomic<std::uint64_t> waiting_bytes_ = 0;
};

// One thread at a time.
class Teller {
 public:
  // Nothing is copied.
  Teller(const SearchRequest& request, const Reporter& reporter, const SearchMemory& memory);

  // Writes a report. Throws ToolError if stdout accepts no more.
  void tell(const std::string& path, const FileReport& report);

  // For the file whose turn it is: begin_turn() names it, and its report goes to room() until end_turn().
  void begin_turn(const std::string& path) { path_ = &path; }
  SearchRoom& room() { return room_; }
  void end_turn(const FileReport& report);

  // Whether nothing that follows can change the result. Any thread may call it.
  bool done() const { return done_; }
  int exit_status() const;

 private:
  class RoomInTurn : public SearchRoom {
   public:
    explicit RoomInTurn(Teller& teller) : teller_(teller) {}
    void grown(FileReport& report) override;
    void paused(FileReport& report) override;
    void add_long(FileReport& report, std::string_view text) override;
    void complain(FileReport& report, const std::string& complaint) override;
    bool lines_before() const override { return teller_.has_lines_; }
    std::span<std::byte> more_memory() override;
    std::uint64_t restoring_bytes(std::uint64_t all_bytes) const override { return all_bytes; }

    void give_back_memory() { line_ = {}; }

   private:
    Teller& teller_;
    LargeBuffer line_;
  };

  void write(std::string_view text);
  void complain(const std::string& path, const std::string& complaint, bool trouble, bool in_any_case);
  void tell_end(const std::string& path, const FileReport& report);

  const SearchRequest& request_;
  const Reporter& reporter_;
  const SearchMemory& memory_;
  RoomInTurn room_{*this};
  const std::string* path_ = nullptr;
  bool has_lines_ = false;
  bool found_ = false;
  bool trouble_ = false;
  std::atomic<bool> done_ = false;
};

}  // namespace hemstitch::cli
