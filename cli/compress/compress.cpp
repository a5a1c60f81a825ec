// hemstitch FILE...: each file becomes FILE.lz4.
#include "cli/compress/compress.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "cli/compress/gzip_range.hpp"
#include "cli/files/each_file.hpp"
#include "cli/files/file_batches.hpp"
#include "cli/files/files.hpp"
#include "cli/files/output/output.hpp"
#include "cli/files/output/remove_source.hpp"
#include "cli/files/suffixes.hpp"
#include "cli/files/walk/done_before.hpp"
#include "cli/messages.hpp"
#include "cli/terminal.hpp"
#include "format/formats.hpp"

namespace hemstitch::cli {
namespace {

// Passes on what is written, and makes an index of it.
class IndexingSink : public Sink {
 public:
  IndexingSink(Sink& sink, SideIndex& index) : sink_(sink), index_(index) {}
  void write(std::span<const std::byte> bytes) override {
    index_.add(bytes);
    sink_.write(bytes);
  }
  void write_in_parallel(std::span<const std::byte> bytes) override {
    index_.add(bytes);
    sink_.write_in_parallel(bytes);
  }

 private:
  Sink& sink_;
  SideIndex& index_;
};

// A file that is being read. If it has grown since it was opened, it ends where it ended then: otherwise a
// program that appends as fast as we compress would never let us end. A file whose size was never that of its
// content is read to its end.
class ReadOnceSource : public Source {
 public:
  explicit ReadOnceSource(FileSource& file) : file_(file), left_(file.total_bytes()) {}
  std::size_t read(std::span<std::byte> into) override {
    return read_with(into, [this](std::span<std::byte> part) { return file_.read(part); });
  }
  std::size_t read_in_parallel(std::span<std::byte> into) override {
    return read_with(into, [this](std::span<std::byte> part) { return file_.read_in_parallel(part); });
  }
  std::optional<std::uint64_t> total_bytes() const override { return file_.total_bytes(); }

  // Whether it has, and so the rest was left out.
  bool has_grown() const { return has_grown_; }

 private:
  template <class Read>
  std::size_t read_with(std::span<std::byte> into, const Read& read) {
    if (has_grown_) return 0;
    if (!file_.total_bytes()) return read(into);
    const auto known = static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), left_.value_or(0)));
    const std::size_t bytes = read(into.first(known));
    if (left_) *left_ -= bytes;
    if (bytes < known || known == into.size()) return bytes;
    has_grown_ = grows();
    if (has_grown_) return bytes;
    const std::size_t more = read(into.subspan(bytes));
    if (more > 0) has_grown_ = grows();
    return bytes + more;
  }

  bool grows() const {
    const struct stat& known = file_.status();
    struct stat now {};
    const bool is_there = file_.is_standard_input() ? fstat(STDIN_FILENO, &now) == 0 : file_.file().stat(now);
    return is_there && now.st_dev == known.st_dev && now.st_ino == known.st_ino &&
           now.st_size > known.st_size;
  }

  FileSource& file_;
  std::optional<std::uint64_t> left_;  // of the size that it had
  bool has_grown_ = false;
};

// What gzip stores about a file: its name, without folders, and its time if that has 32 bits.
void store_name(CompressOptions& options, const FileSource& source) {
  if (source.is_standard_input()) return;
  options.stored_name = source.file().name;
  const time_t time = source.status().st_mtime;
  options.stored_time = time > 0 && time <= UINT32_MAX ? static_cast<std::uint32_t>(time) : 0;
}

// The index of gzip: what is written is restored, and verified, to find the points where parts can be
// restored from.
class GzipSideIndex : public SideIndex {
 public:
  explicit GzipSideIndex(const RestoreOptions& options)
      : decompressor_(of_gzip(options), [](std::span<const std::byte>) {}) {
    decompressor_.make_index();
  }
  std::string_view suffix() const override { return kGzipIndexSuffix; }
  void add(std::span<const std::byte> bytes) override { decompressor_.write(bytes); }
  std::vector<std::byte> bytes() override {
    decompressor_.finish();
    return decompressor_.index();
  }

 private:
  // Compressing has the threads, the memory and the device.
  static RestoreOptions of_gzip(const RestoreOptions& options) {
    RestoreOptions alone = options;
    alone.backend = "cpu";
    alone.format = Format::kGzip;
    alone.threads = 1;
    return alone;
  }

  Decompressor decompressor_;
};

std::unique_ptr<SideIndex> make_side_index(const Request& request) {
  if (request.compress.format == Format::kGzip) return std::make_unique<GzipSideIndex>(request.restore);
  return FormatTable::instance().of(request.compress.format).make_side_index();
}

// The index file beside the output, and the index that it will hold.
struct IndexOutput {
  IndexOutput(const Request& request, const FileSource& source)
      : index(make_side_index(request)), sink(open_index_output(request, source, index->suffix())) {}

  std::optional<std::string> complete(const FileSource& source) {
    sink->write(index->bytes());
    return sink->complete(source);
  }

  std::unique_ptr<SideIndex> index;
  std::unique_ptr<FileSink> sink;
};

void tell_of_growth(const Request& request, const std::string& path, const StreamReport& report) {
  if (!request.quiet)
    print_message(path, fmt::format("warning: grew while it was read: the first {} bytes are compressed",
                                    report.input_bytes));
}

// The source shrank while it was read, or its size was never that of its content.
void tell_of_another_size(const Request& request, const std::string& path, const StreamReport& report) {
  if (!request.quiet)
    print_message(path, fmt::format("warning: {} bytes were expected, {} came and are compressed (the file "
                                    "changed while it was read, or its size is not that of its content)",
                                    *report.expected_input_bytes, report.input_bytes));
}

// Warns that the file will hardly get smaller.
void tell_of_compressed(const std::string& path, std::string_view format) {
  print_message(
      path, fmt::format("warning: is {} data already (-z or -f compresses it without a warning)", format));
}

// Programs for genomes read such files by places, in BGZF alone.
bool is_read_by_places(const Request& request, const FileSource& source) {
  constexpr std::string_view kSuffixes[] = {".vcf", ".bed", ".gff", ".gff3", ".gtf", ".sam", ".fa", ".fasta"};
  if (request.compress.format != Format::kGzip) return false;
  const std::string name = request.output_path.empty()
                               ? source.file().name
                               : restored_name(request.output_path).value_or(request.output_path);
  return std::ranges::any_of(kSuffixes, [&](std::string_view suffix) { return name.ends_with(suffix); });
}

Outcome compress_file(const Request& request, CompressOptions options, const FileName& file) {
  if (writes_to_stdout(request, file) && is_terminal(STDOUT_FILENO) && !request.force)
    throw ToolError(
        "compressed data is not written to a terminal (use -o FILE or redirect stdout; -f writes it)");
  const std::string path = file.path();
  FileSource source(file);
  refuse_folder(request, source);
  refuse_compressed_name(request, source);
  if (source.is_regular() && !source.is_standard_input() && !request.compress_again) {
    if (const auto format = compressed_already(source.first_bytes(), source.file().name)) {
      if (leaves_compressed_files(request)) return Outcome::kLeft;
      if (!request.quiet) tell_of_compressed(path, *format);
    }
  }
  await_later_stamps(request, source);
  options.content_bytes = source.total_bytes();
  if (request.with_name) store_name(options, source);
  const std::unique_ptr<FileSink> sink = open_output(request, source);

  StreamReport report;
  double seconds = 0;
  bool has_grown = false;
  std::optional<std::string> warning, index_warning;
  {
    Progress progress(path, source.total_bytes(), false, request.quiet);
    std::optional<IndexOutput> index;
    std::optional<IndexingSink> indexing;
    if (request.write_index) indexing.emplace(*sink, *index.emplace(request, source).index);
    ReadOnceSource content(source);
    report = compress_stream(content, indexing ? static_cast<Sink&>(*indexing) : *sink, options,
                             progress_hooks(progress), {DataPlace::kFile, DataPlace::kFile});
    has_grown = content.has_grown();
    warning = sink->complete(source);
    if (index) index_warning = index->complete(source);
    seconds = progress.elapsed_seconds();
  }
  std::optional<std::string> kept;
  if (request.remove_source) {
    if (report.expected_input_bytes)
      kept = "is not as long as its size said, so it is kept";
    else
      kept = remove_source(request, source);
  }
  if (has_grown)
    tell_of_growth(request, path, report);
  else if (report.expected_input_bytes)
    tell_of_another_size(request, path, report);
  report_stream(request, path, report, seconds);
  if (request.verbosity > 0 && is_read_by_places(request, source))
    print_message(path, "tabix and samtools want this in BGZF (--format bgzf, and --index)");
  return worst(worst(report_warning(request, path, warning), report_warning(request, path, index_warning)),
               report_warning(request, path, kept));
}

}  // namespace

int run_compress(const Request& request) {
  CompressOptions options = request.compress;
  std::vector<std::byte> dictionary;
  if (!request.dictionary_path.empty()) {
    dictionary = read_dictionary(request.dictionary_path, &FormatTable::instance().of(options.format),
                                 options.memory_limit_bytes);
    options.dictionary = dictionary;
  }
  FolderWork folder_work;
  if (works_in_batches(request))
    folder_work.batches = [&](std::vector<FileName> files, Tally& tally) {
      return compress_in_batches(request, options, std::move(files), tally);
    };
  folder_work.remove_done = [&](const std::vector<FileName>& files, Tally& tally) {
    RestoreOptions restore = request.restore;
    restore.dictionary = dictionary;
    remove_done_sources(request, restore, files, tally);
  };
  return for_each_file(
      request, [&](const FileName& file) { return compress_file(request, options, file); }, folder_work);
}

}  // namespace hemstitch::cli
