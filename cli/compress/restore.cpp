// hemstitch -d FILE.lz4...: restores each FILE. With -t, the content is checked and discarded.
#include <fmt/format.h>

#include <utility>
#include <vector>

#include "cli/compress/byte_range.hpp"
#include "cli/compress/compress.hpp"
#include "cli/compress/gzip_range.hpp"
#include "cli/files/each_file.hpp"
#include "cli/files/file_batches.hpp"
#include "cli/files/files.hpp"
#include "cli/files/output/output.hpp"
#include "cli/files/output/remove_source.hpp"
#include "cli/files/walk/done_before.hpp"
#include "cli/messages.hpp"
#include "format/bgzf_places.hpp"
#include "format/formats.hpp"
#include "format/zstd_index.hpp"

namespace hemstitch::cli {
namespace {

constexpr std::size_t kCopyBytes = 256 << 10;

void copy_unchanged(FileSource& source, Sink& sink) {
  std::vector<std::byte> buffer(kCopyBytes);
  while (const std::size_t count = source.read(buffer)) sink.write(std::span(buffer).first(count));
}

PartReport restore_into(FileSource& source, Sink& sink, const Request& request, const RestoreOptions& options,
                        const StreamHooks& hooks) {
  if (request.virtual_range) return {restore_virtual(source, sink, *request.virtual_range, options, hooks)};
  if (request.range) return restore_part(source, sink, *request.range, options, hooks);
  const DataPlace to = request.action == Action::kTest ? DataPlace::kNowhere : DataPlace::kFile;
  return {restore_stream(source, sink, options, hooks, {DataPlace::kFile, to})};
}

// What -N takes from the header of a gzip file: the time when the file was changed, and its name, without
// folders. Either is empty if the header does not have it, or if a file cannot have that name. Afterwards the
// source is at its beginning again.
struct KeptName {
  std::optional<std::string> name;
  std::uint32_t seconds = 0;
};
KeptName kept_name(FileSource& source, const RestoreOptions& options) {
  if (options.format.value_or(Format::kGzip) != Format::kGzip || !source.seek(0)) return {};
  const auto reader = FormatTable::instance().of(Format::kGzip).make_reader(false);
  std::vector<std::byte> buffer;
  FrameReader::Event event = FrameReader::Event::kMore;
  try {
    while (event == FrameReader::Event::kMore) {
      buffer.resize(reader->wanted_bytes());
      event = reader->step(std::span(buffer).first(source.read(buffer)));
    }
  } catch (const Error&) {
    // Restoring the file will report the error.
  }
  source.seek(0);
  if (event != FrameReader::Event::kFrameBegin) return {};
  KeptName kept{reader->header().file_name, reader->header().file_seconds};
  kept.name->erase(0, kept.name->rfind('/') + 1);
  if (kept.name->empty() || *kept.name == "." || *kept.name == "..") kept.name.reset();
  return kept;
}

// The index of the source, beside it: of gzip the points of the content, found while it is restored; of BGZF
// its members' places; of Zstandard the points, found by restoring it once more.
struct SourceIndex {
  // Called before the source is opened, since opening a named pipe waits for its writer.
  static void require_file(const FileName& source) {
    struct stat status {};
    if (source.is_standard_stream() ||
        (source.stat(status) && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)))
      throw ToolError("an index needs a file that can seek");
  }

  SourceIndex(const Request& request, FileSource& source)
      : of_members(bgzf_member_at(source, 0)),
        of_zstd(FormatTable::instance()
                    .of(Format::kZstd)
                    .begins(source.seek(0) ? source.first_bytes() : std::span<const std::byte>())) {
    source.seek(0);
    FileSink::Target target;
    target.overwrite = request.force;
    const std::string suffix(of_members ? kBgzfIndexSuffix : of_zstd ? kZstdIndexSuffix : kGzipIndexSuffix);
    target.file = request.index_path.empty() ? source.file().beside(source.file().name + suffix)
                                             : FileName::from_argument(request.index_path);
    sink = FileSink::create(target, source);
  }

  // Call it after the source was restored and found whole.
  std::optional<std::string> complete(FileSource& source, const StreamReport& report, unsigned threads) {
    sink->write(of_zstd ? make_zstd_index(source, resolve_threads(threads))
                : of_members
                    ? gzi_bytes(bgzf_places(source, report.input_bytes))
                    : points.bytes(source.total_bytes().value_or(report.input_bytes), report.output_bytes));
    return sink->complete(source);
  }

  bool of_members, of_zstd;
  // Whether restoring finds the points.
  bool takes_points() const { return !of_members && !of_zstd; }
  GzipIndex points;
  std::unique_ptr<FileSink> sink;
};

Outcome restore_file(const Request& request, const RestoreOptions& given, const FileName& name) {
  const std::string path = name.path();
  if (request.write_index) SourceIndex::require_file(name);
  FileSource source(name);
  refuse_folder(request, source);
  refuse_terminal(request, source);
  await_later_stamps(request, source);
  const bool testing = request.action == Action::kTest;
  const bool to_stdout = !testing && writes_to_stdout(request, name);
  const DataIdentity identity = identify_data(source.first_bytes());
  // Like gzip -dcf: what is not compressed is copied, be it the whole input or what follows the last frame.
  const bool copies = to_stdout && request.force && !given.format;
  if (identity.kind != DataKind::kFrame && copies) {
    const std::unique_ptr<FileSink> sink = open_output(request, source);
    copy_unchanged(source, *sink);
    return report_warning(request, path, sink->complete(source));
  }
  const RestoreOptions options = options_to_restore(given, source);

  std::unique_ptr<FileSink> file;
  NullSink nowhere;
  const KeptName kept_of_header = request.with_name && !testing ? kept_name(source, options) : KeptName{};
  if (kept_of_header.seconds != 0) source.set_modified(kept_of_header.seconds);
  if (!testing) file = open_output(request, source, std::nullopt, kept_of_header.name);
  StreamReport report;
  double seconds = 0;
  std::optional<std::string> lost_attribute, index_warning, unused_index;
  {
    Progress progress(path, source.total_bytes(), true, request.quiet);
    StreamHooks hooks = progress_hooks(progress);
    hooks.copies_rest = copies;
    std::optional<SourceIndex> index;
    if (request.write_index && index.emplace(request, source).takes_points()) hooks.index = &index->points;
    PartReport part =
        restore_into(source, testing ? static_cast<Sink&>(nowhere) : *file, request, options, hooks);
    report = std::move(part.stream);
    unused_index = std::move(part.index_warning);
    if (file) lost_attribute = file->complete(source);
    if (index) index_warning = index->complete(source, report, options.threads);
    seconds = progress.elapsed_seconds();
  }
  // What follows the frames was not restored, so then the source is kept.
  std::optional<std::string> kept;
  if (request.remove_source && !report.trailing_garbage_at && !report.end_missing)
    kept = remove_source(request, source);
  report_stream(request, path, report, seconds);
  const Outcome attributes = worst(
      worst(report_warning(request, path, lost_attribute), report_warning(request, path, index_warning)),
      report_warning(request, path, unused_index));
  const Outcome garbage = worst(report_warning(request, path, end_warning(report.end_missing)),
                                report_warning(request, path, garbage_warning(report.trailing_garbage_at)));
  return worst(worst(attributes, garbage), report_warning(request, path, kept));
}

}  // namespace

int run_restore(const Request& request) {
  RestoreOptions options = request.restore;
  std::vector<std::byte> dictionary;
  if (!request.dictionary_path.empty()) {
    dictionary = read_dictionary(request.dictionary_path,
                                 options.format ? &FormatTable::instance().of(*options.format) : nullptr,
                                 options.memory_limit_bytes);
    options.dictionary = dictionary;
  }
  FolderWork folder_work;
  if (works_in_batches(request))
    folder_work.batches = [&](std::vector<FileName> files, Tally& tally) {
      return restore_in_batches(request, options, std::move(files), tally);
    };
  folder_work.remove_done = [&](const std::vector<FileName>& files, Tally& tally) {
    remove_done_sources(request, options, files, tally);
  };
  return for_each_file(
      request, [&](const FileName& name) { return restore_file(request, options, name); }, folder_work);
}

}  // namespace hemstitch::cli
