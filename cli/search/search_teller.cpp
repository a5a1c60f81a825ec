#include "cli/search/search_teller.hpp"

#include <algorithm>
#include <cstdio>

#include "cli/commands.hpp"
#include "cli/messages.hpp"
#include "cli/request.hpp"

namespace hemstitch::cli {
namespace {

// For blocks of 4 MB, the largest of the format, compressed and restored.
constexpr std::uint64_t kRestoringBytes = std::uint64_t{9} << 20;

}  // namespace

void WaitingRoom::count(FileReport& report) {
  waiting_bytes_ += report.output.size() - report.counted_bytes;
  report.counted_bytes = report.output.size();
}

void WaitingRoom::grown(FileReport& report) {
  count(report);
  if (waiting_bytes_ > bytes_) throw MustWait();
}

void WaitingRoom::add_long(FileReport& report, std::string_view text) {
  report.output += text;
  grown(report);
}

std::uint64_t WaitingRoom::restoring_bytes(std::uint64_t all_bytes) const {
  return std::min(all_bytes, kRestoringBytes);
}

Teller::Teller(const SearchRequest& request, const Reporter& reporter, const SearchMemory& memory)
    : request_(request), reporter_(reporter), memory_(memory) {}

void Teller::tell(const std::string& path, const FileReport& report) {
  if (done_) return;
  if (report.begins_group && has_lines_) write(reporter_.between_groups());
  tell_end(path, report);
}

void Teller::end_turn(const FileReport& report) {
  room_.give_back_memory();
  if (!done_) tell_end(*path_, report);
}

void Teller::tell_end(const std::string& path, const FileReport& report) {
  write(report.output);
  if (!report.complaint.empty()) complain(path, report.complaint, report.trouble, report.in_any_case);
  has_lines_ |= report.sets_off_next;
  found_ |= report.found;
  done_ = request_.quiet && found_;
}

void Teller::complain(const std::string& path, const std::string& complaint, bool trouble, bool in_any_case) {
  trouble_ |= trouble;
  if (request_.no_messages && !in_any_case) return;
  std::fflush(stdout);
  print_message(request_.shown_input(path), complaint);
}

void Teller::write(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) throw tool_error_from_errno("stdout");
  if (request_.line_buffered && std::fflush(stdout) != 0) throw tool_error_from_errno("stdout");
}

int Teller::exit_status() const {
  if (request_.quiet && found_) return kExitFound;
  return trouble_ ? kExitTrouble : found_ ? kExitFound : kExitNothingFound;
}

void Teller::RoomInTurn::grown(FileReport& report) {
  teller_.write(report.output);
  report.output.clear();
}

void Teller::RoomInTurn::paused(FileReport& report) {
  grown(report);
  if (std::fflush(stdout) != 0) throw tool_error_from_errno("stdout");
}

void Teller::RoomInTurn::add_long(FileReport& report, std::string_view text) {
  grown(report);
  teller_.write(text);
}

void Teller::RoomInTurn::complain(FileReport& report, const std::string& complaint) {
  grown(report);
  teller_.complain(*teller_.path_, complaint, true, true);
}

std::span<std::byte> Teller::RoomInTurn::more_memory() {
  if (line_.get() != nullptr) return {};
  line_ = LargeBuffer(teller_.memory_.line_bytes);
  return {line_.get(), teller_.memory_.line_bytes};
}

}  // namespace hemstitch::cli
