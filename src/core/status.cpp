#include "core/status.hpp"

#include <fmt/format.h>

#include <system_error>

#include "core/advice.hpp"

namespace hemstitch {

const char* status_text(Status status) {
  if (const auto of_status = current_advice.of_status; of_status != nullptr)
    if (const char* const text = of_status(status); text != nullptr) return text;
  switch (status) {
    case Status::kOk:
      return "done";
    case Status::kInvalidOption:
      return "an option has an invalid value; the message names the field";
    case Status::kUnknownBackend:
      return "no such backend; name one that this build has, or \"auto\"";
    case Status::kDictionaryNeeded:
      return "the data needs a dictionary; give the one it was written with";
    case Status::kDictionaryMismatch:
      return "the data was written with another dictionary; give that one, or set accept_any_dictionary_id";
    case Status::kRangeOutsideContent:
      return "the range lies outside the content";
    case Status::kWrongState:
      return "the stream takes no more calls; start a new one";
    case Status::kUnknownFormat:
      return "unknown format; check that this is compressed data";
    case Status::kForeignFormat:
      return "another tool's format; restore it with that tool";
    case Status::kUnsupportedVersion:
      return "an unknown version of the format; look for a newer Hemstitch";
    case Status::kUnsupportedFeature:
      return "the data uses a feature that Hemstitch does not read";
    case Status::kTruncated:
      return "the data ends too early; get a complete copy";
    case Status::kCorruptHeader:
      return "the header is damaged; get an intact copy";
    case Status::kCorruptBlock:
      return "the block is damaged; get an intact copy";
    case Status::kHeaderChecksumMismatch:
      return "the header is damaged; get an intact copy";
    case Status::kBlockChecksumMismatch:
      return "the block is damaged; get an intact copy";
    case Status::kContentChecksumMismatch:
      return "the restored content is not what was compressed; get an intact copy";
    case Status::kContentSizeMismatch:
      return "the restored size is not what the header says; get an intact copy";
    case Status::kTrailingGarbage:
      return "other bytes follow the compressed data; what stands before them is whole";
    case Status::kOutputTooSmall:
      return "the output is too small; ask for the size first";
    case Status::kOutOfMemory:
      return "out of memory; use smaller blocks, fewer threads or a memory limit";
    case Status::kMemoryLimit:
      return "the work does not fit the memory limit; raise it";
    case Status::kDeviceUnavailable:
      return "the device cannot be used here";
    case Status::kDeviceLost:
      return "the device was lost; try again, or use the backend cpu";
    case Status::kDeviceOutOfMemory:
      return "the device is out of memory; set a limit for it, or use the backend cpu";
    case Status::kDeviceFault:
      return "the device reported an error; try again, or use the backend cpu";
    case Status::kInternal:
      return "a mistake in Hemstitch; please report it with the message";
    case Status::kReadFailed:
      return "the input could not be read";
    case Status::kWriteFailed:
      return "the output could not be written";
    case Status::kInputChanged:
      return "the input changed while it was read; try again when nothing writes to it";
    case Status::kCancelled:
      return "stopped before the end";
  }
  return "unknown status";
}

std::string Place::text() const {
  std::string text;
  const auto add = [&](const char* what, const std::optional<std::uint64_t>& number) {
    if (number) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", what, *number);
  };
  add("frame", frame);
  add("block", block);
  add("byte", byte_offset);
  return text;
}

namespace {
std::string message(Status status, const std::string& detail, const Place& place) {
  const std::string where = place.text();
  return fmt::format("{}{}{} ({})", where, where.empty() ? "" : ": ", detail, status_text(status));
}
}  // namespace

Error::Error(Status status, const std::string& detail, Place place)
    : std::runtime_error(message(status, detail, place)), status_(status), place_(place) {}

Error system_error(Status status, const std::string& what, int error_number) {
  return Error(status, fmt::format("{}: {}", what, std::generic_category().message(error_number)));
}

}  // namespace hemstitch
