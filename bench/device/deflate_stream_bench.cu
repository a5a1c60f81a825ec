// What restoring one ordinary gzip stream costs on a CUDA device: from the stream's bytes on the device to content and checksum there, the
// host's waiting included.
//
//   deflate_stream_device_bench FOLDER [SCALE]
//
// FOLDER holds silesia/. Inputs are made here, from its nine files behind one another, shuffled and each turned by another number of bytes
// in every repetition, so that blocks fall differently: 1.12 GB (times SCALE) of all nine in one stream by zlib and by libdeflate, and as
// pigz does it, in chunks of 128 KB with a window each; 420 MB of files alike. "trap" is random bytes, gzip files and text in turn, "random" what no code
// shrinks, "zeros" nothing but those, "fixed" text in blocks with the fixed code, "members" a gzip file of many members of 256 KB. Every figure is the median of three runs
// after one to warm up. Prints one row of a recorded run a line; a row is verified when all bytes and the checksum are right. "worst"
// is the slowest of the streams of real files.
#include <libdeflate.h>
#include <tbb/parallel_for.h>
#include <tbb/task_group.h>
#include <zlib.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "deflate_streams.hpp"
#include "device_array.hpp"
#include "device_timing.hpp"
#include "format/deflate/stream/deflate_stream_cuda.hpp"
#include "gpu/cuda/cuda_error.hpp"
#include "shapes.hpp"

namespace hemstitch {
namespace {

using bench::DeviceArray;
using testing::Bytes;

constexpr int kRuns = 3;
constexpr std::size_t kPigzBytes = 128 * 1024, kMemberBytes = 256 * 1024, kGzipHeaderBytes = 10;

using Files = std::map<std::string, Bytes>;

Bytes mixed(const Files& files, std::vector<std::string> names, std::size_t bytes, std::uint32_t seed) {
  std::mt19937 random(seed);
  Bytes all;
  for (bool first = true; all.size() < bytes; first = false) {
    for (std::size_t i = names.size(); i-- > 1;) std::swap(names[i], names[random() % (i + 1)]);
    for (const std::string& name : names) {
      const Bytes& file = files.at(name);
      const auto turn = static_cast<std::ptrdiff_t>(first ? 0 : random() % (file.size() / 8));
      all.insert(all.end(), file.begin() + turn, file.end());
      all.insert(all.end(), file.begin(), file.begin() + turn);
    }
  }
  all.resize(bytes);
  return all;
}

void append(Bytes& to, const Bytes& from) { to.insert(to.end(), from.begin(), from.end()); }

// In parts, since zlib counts in 32 bits.
Bytes by_zlib(std::span<const std::byte> content, int level, int strategy = Z_DEFAULT_STRATEGY) {
  z_stream stream{};
  deflateInit2(&stream, level, Z_DEFLATED, -MAX_WBITS, 8, strategy);
  Bytes data(content.size() + content.size() / 100 + 1000);
  std::size_t written = 0;
  constexpr std::size_t kPart = std::size_t{1} << 28;
  for (std::size_t at = 0; at < content.size() || at == 0; at += kPart) {
    const std::size_t part = std::min(kPart, content.size() - at);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(content.data() + at));
    stream.avail_in = static_cast<uInt>(part);
    stream.next_out = reinterpret_cast<Bytef*>(data.data() + written);
    const std::size_t room = std::min<std::size_t>(data.size() - written, std::size_t{1} << 31);
    stream.avail_out = static_cast<uInt>(room);
    deflate(&stream, at + part == content.size() ? Z_FINISH : Z_NO_FLUSH);
    written += room - stream.avail_out;
  }
  deflateEnd(&stream);
  data.resize(written);
  return data;
}

Bytes by_libdeflate(std::span<const std::byte> content) {
  libdeflate_compressor* compressor = libdeflate_alloc_compressor(6);
  Bytes data(libdeflate_deflate_compress_bound(compressor, content.size()));
  data.resize(
      libdeflate_deflate_compress(compressor, content.data(), content.size(), data.data(), data.size()));
  libdeflate_free_compressor(compressor);
  return data;
}

// Chunks that end on a byte by an empty stored block, each with the window before it.
Bytes as_pigz(std::span<const std::byte> content) {
  const std::size_t count = (content.size() + kPigzBytes - 1) / kPigzBytes;
  std::vector<Bytes> parts(count);
  tbb::parallel_for(std::size_t{0}, count, [&](std::size_t i) {
    const std::size_t begin = i * kPigzBytes, window = std::min<std::size_t>(begin, 32768);
    const auto chunk = content.subspan(begin, std::min(kPigzBytes, content.size() - begin));
    z_stream stream{};
    deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
    deflateSetDictionary(&stream, reinterpret_cast<const Bytef*>(content.data() + begin - window),
                         static_cast<uInt>(window));
    Bytes& part = parts[i];
    part.resize(chunk.size() + 1000);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(chunk.data()));
    stream.avail_in = static_cast<uInt>(chunk.size());
    stream.next_out = reinterpret_cast<Bytef*>(part.data());
    stream.avail_out = static_cast<uInt>(part.size());
    deflate(&stream, i + 1 == count ? Z_FINISH : Z_SYNC_FLUSH);
    part.resize(stream.total_out);
    deflateEnd(&stream);
  });
  Bytes all;
  for (const Bytes& part : parts) append(all, part);
  return all;
}

Bytes as_members(std::span<const std::byte> content) {
  const std::size_t count = (content.size() + kMemberBytes - 1) / kMemberBytes;
  std::vector<Bytes> parts(count);
  tbb::parallel_for(std::size_t{0}, count, [&](std::size_t i) {
    parts[i] = testing::zlib_stream(
        content.subspan(i * kMemberBytes, std::min(kMemberBytes, content.size() - i * kMemberBytes)), 6,
        Z_DEFAULT_STRATEGY, 8, MAX_WBITS + 16);
  });
  Bytes all;
  for (const Bytes& part : parts) append(all, part);
  all.erase(all.begin(), all.begin() + kGzipHeaderBytes);
  return all;
}

Bytes trap(const Files& files, std::size_t bytes) {
  const Bytes samba = testing::zlib_stream(files.at("samba"), 6, Z_DEFAULT_STRATEGY, 8, MAX_WBITS + 16);
  const Bytes dickens = testing::zlib_stream(files.at("dickens"), 6, Z_DEFAULT_STRATEGY, 8, MAX_WBITS + 16);
  Bytes all;
  for (std::uint32_t round = 0; all.size() < bytes; ++round) {
    append(all, testing::random_bytes(3'000'000, 2 * round + 1));
    append(all, samba);
    append(all, files.at("xml"));
    append(all, dickens);
    append(all, files.at("mr"));
    append(all, testing::random_bytes(500'000, 2 * round + 2));
    all.insert(all.end(), files.at("ooffice").begin(), files.at("ooffice").begin() + 2'000'000);
  }
  all.resize(bytes);
  return all;
}

struct Input {
  std::string file, level;
  Bytes content, data;
  bool real = true;  // of real files alone
  bool members = false;
};

double measure(const Input& input) {
  const DeviceArray<std::byte> d_data(input.data), d_output(input.content.size());
  const cuda::DeflatePieceLimits limits = cuda::deflate_piece_limits(input.data.size(), input.content.size());
  const std::size_t scratch_bytes = cuda::restore_deflate_piece_cuda_scratch_bytes(limits);
  const DeviceArray<std::byte> d_scratch(scratch_bytes);
  cuda::check(cudaMemset(d_output.data, 0xA5, input.content.size()), "cudaMemset");
  cuda::DeflatePieceResult result;
  const double seconds = bench::median_host_seconds(kRuns, [&] {
    result = cuda::restore_deflate_piece_cuda(
        {.d_bytes = d_data.data, .bytes = input.data.size(), .members = input.members}, limits, d_output.data,
        input.content.size(), d_scratch.data, scratch_bytes, nullptr);
  });
  bool verified = result.ended && result.content_bytes == input.content.size() &&
                  d_output.download(0, input.content.size()) == input.content;
  std::size_t from = 0;
  for (const cuda::DeflatePieceMember& member : result.members) {
    verified &= member.crc32 == libdeflate_crc32(0, input.content.data() + from, member.content_end - from);
    from = member.content_end;
  }
  const double gbps = static_cast<double>(input.content.size()) / seconds / 1e9;
  std::printf(
      "{\"what\":\"restore\",\"backend\":\"cuda\",\"format\":\"gzip\",\"level\":\"%s\",\"file\":\"%s\","
      "\"bytes\":%zu,"
      "\"ratio\":%.4f,\"gbps\":%.2f,\"span\":\"kernel\",\"verified\":%s}\n",
      input.level.c_str(), input.file.c_str(), input.content.size(),
      static_cast<double>(input.content.size()) / static_cast<double>(input.data.size()), gbps,
      verified ? "true" : "false");
  std::fprintf(stderr,
               "%s %s: %zu of %zu bytes of content, end %d; %u entries, %u linked, %u repaired; %.2f bytes "
               "of scratch memory a byte\n",
               input.file.c_str(), input.level.c_str(), static_cast<std::size_t>(result.content_bytes),
               input.content.size(), static_cast<int>(result.why), result.entries, result.linked,
               result.repaired,
               static_cast<double>(scratch_bytes) / static_cast<double>(input.content.size()));
  std::fflush(stdout);
  return verified ? gbps : 0;
}

int run(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::fprintf(stderr, "deflate_stream_device_bench FOLDER [SCALE]\n");
    return 1;
  }
  const double scale = argc > 2 ? std::atof(argv[2]) : 1;
  const auto megabytes = [&](double count) { return static_cast<std::size_t>(count * scale * 1e6); };
  const std::vector<std::string> all = {"dickens", "mr",    "nci", "ooffice", "osdb",
                                        "reymont", "samba", "xml", "x-ray"};
  Files files;
  for (const std::string& name : all)
    files[name] = testing::read_file(std::string(argv[1]) + "/silesia/" + name, std::size_t{1} << 30);
  const Bytes mix = mixed(files, all, megabytes(1120), 1);
  std::vector<Input> inputs(12);
  tbb::task_group group;
  const auto make = [&](std::size_t i, auto&& maker) {
    group.run([&inputs, i, maker] { inputs[i] = maker(); });
  };
  make(0, [&] { return Input{"nine files", "zlib 6", mix, by_zlib(mix, 6)}; });
  make(1, [&] { return Input{"nine files", "libdeflate 6", mix, by_libdeflate(mix)}; });
  make(2, [&] { return Input{"nine files", "pigz 6", mix, as_pigz(mix)}; });
  make(3, [&] {
    Bytes content = mixed(files, {"dickens", "reymont", "samba", "nci", "xml"}, megabytes(420), 2);
    Bytes data = by_zlib(content, 6);
    return Input{"text", "zlib 6", std::move(content), std::move(data)};
  });
  make(4, [&] {
    Bytes content = mixed(files, {"mr", "ooffice", "osdb", "x-ray"}, megabytes(420), 3);
    Bytes data = by_zlib(content, 6);
    return Input{"binary", "zlib 6", std::move(content), std::move(data)};
  });
  make(5, [&] {
    Bytes content = mixed(files, {"dickens", "reymont"}, megabytes(420), 5);
    Bytes data = by_zlib(content, 6);
    return Input{"dickens, reymont", "zlib 6", std::move(content), std::move(data)};
  });
  make(6, [&] {
    Bytes content = trap(files, megabytes(330));
    Bytes data = by_zlib(content, 6);
    return Input{"trap", "zlib 6", std::move(content), std::move(data), false};
  });
  make(7, [&] {
    Bytes content = testing::random_bytes(megabytes(150), 3);
    Bytes data = by_zlib(content, 6);
    return Input{"random", "zlib 6", std::move(content), std::move(data), false};
  });
  make(8, [&] {
    Bytes content(megabytes(500));
    Bytes data = by_zlib(content, 6);
    return Input{"zeros", "zlib 6", std::move(content), std::move(data), false};
  });
  make(9, [&] {
    Bytes content = mixed(files, {"dickens", "xml"}, megabytes(52), 4);
    Bytes data = by_zlib(content, 6, Z_FIXED);
    return Input{"fixed", "zlib 6", std::move(content), std::move(data), false};
  });
  make(10, [&] { return Input{"nine files", "zlib 6, members", mix, as_members(mix), true, true}; });
  make(11, [&] {
    Bytes content = mixed(files, all, megabytes(560), 6);
    Bytes data = by_zlib(content, 1);
    return Input{"nine files", "zlib 1", std::move(content), std::move(data)};
  });
  group.wait();
  double worst = 1e9;
  for (const Input& input : inputs) {
    const double gbps = measure(input);
    if (input.real) worst = std::min(worst, gbps);
  }
  std::printf(
      "{\"what\":\"restore\",\"backend\":\"cuda\",\"format\":\"gzip\",\"level\":\"all\",\"file\":\"worst\","
      "\"bytes\":%zu,"
      "\"gbps\":%.2f,\"span\":\"kernel\",\"verified\":%s}\n",
      mix.size(), worst, worst > 0 ? "true" : "false");
  return 0;
}

}  // namespace
}  // namespace hemstitch

int main(int argc, char** argv) {
  try {
    return hemstitch::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "deflate_stream_device_bench: %s\n", error.what());
    return 1;
  }
}
