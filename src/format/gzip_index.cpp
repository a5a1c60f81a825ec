#include "format/gzip_index.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/bytes.hpp"

namespace hemstitch {
namespace {

constexpr std::array<std::byte, 5> kMagic{std::byte{'G'}, std::byte{'Z'}, std::byte{'I'}, std::byte{'D'},
                                          std::byte{'X'}};
constexpr std::size_t kVersionAt = 5, kFileBytesAt = 7, kContentBytesAt = 15, kSpacingAt = 23,
                      kWindowBytesAt = 27, kPointCountAt = 31, kHeaderBytes = 35;
// Offsets in a point.
constexpr std::size_t kContentAt = 8, kBitsAt = 16, kHasWindowAt = 17, kPointBytes = 18;
constexpr std::uint64_t kPointsAtOnce = 4096;
// DEFLATE makes at most 258 bytes of two bits.
constexpr std::uint64_t kMostContentPerByte = 1032;

std::uint64_t byte_behind(std::uint64_t bit) { return bit / 8 + (bit % 8 != 0 ? 1 : 0); }

}  // namespace

void GzipIndex::add(std::uint64_t bit, std::uint64_t content_at, std::span<const std::byte> window) {
  if (points_.size() == most_points_) {
    for (std::size_t i = 0; i < points_.size(); i += 2)
      if (i != 0) points_[i / 2] = std::move(points_[i]);
    points_.resize((points_.size() + 1) / 2);
    spacing_bytes_ = spacing_bytes_ > UINT32_MAX / 2 ? UINT32_MAX : spacing_bytes_ * 2;
    if (!wants(content_at)) return;
  }
  GzipPoint& point = points_.emplace_back(GzipPoint{bit, content_at});
  if (window.empty()) return;
  point.window.resize(kGzipWindowBytes);
  std::ranges::copy(window, point.window.end() - static_cast<std::ptrdiff_t>(window.size()));
}

std::uint64_t GzipIndex::most_bytes(std::uint64_t file_bytes) {
  const std::uint64_t content_bytes =
      file_bytes > UINT64_MAX / kMostContentPerByte ? UINT64_MAX : file_bytes * kMostContentPerByte;
  const std::uint64_t most_points = std::min<std::uint64_t>(kMostPoints, 1 + content_bytes / kSpacingBytes);
  return kHeaderBytes + most_points * (kPointBytes + kGzipWindowBytes) + kPointBytes;
}

std::vector<std::byte> GzipIndex::bytes(std::uint64_t file_bytes, std::uint64_t content_bytes) const {
  std::vector<std::byte> bytes(kHeaderBytes + (points_.size() + 1) * kPointBytes);
  std::ranges::copy(kMagic, bytes.begin());
  bytes[kVersionAt] = std::byte{1};
  store_le64(&bytes[kFileBytesAt], file_bytes);
  store_le64(&bytes[kContentBytesAt], content_bytes);
  store_le32(&bytes[kSpacingAt], spacing_bytes_);
  store_le32(&bytes[kWindowBytesAt], kGzipWindowBytes);
  store_le32(&bytes[kPointCountAt], static_cast<std::uint32_t>(points_.size() + 1));
  std::byte* at = bytes.data() + kHeaderBytes;
  const auto store = [&](const GzipPoint& point) {
    store_le64(at, byte_behind(point.bit));
    store_le64(at + kContentAt, point.content_at);
    at[kBitsAt] = static_cast<std::byte>(byte_behind(point.bit) * 8 - point.bit);
    at[kHasWindowAt] = std::byte{!point.window.empty()};
    at += kPointBytes;
  };
  for (const GzipPoint& point : points_) store(point);
  store({file_bytes * 8, content_bytes});
  for (const GzipPoint& point : points_) bytes.insert(bytes.end(), point.window.begin(), point.window.end());
  return bytes;
}

std::optional<GzipIndexReader> GzipIndexReader::of(Source& index, std::uint64_t file_bytes) {
  std::array<std::byte, kHeaderBytes> header;
  if (!index.seek(0) || index.read(header) != header.size() ||
      !std::ranges::equal(kMagic, std::span(header).first(kMagic.size())) ||
      header[kVersionAt] > std::byte{1} || load_le64(&header[kFileBytesAt]) != file_bytes ||
      load_le32(&header[kWindowBytesAt]) != kGzipWindowBytes)
    return std::nullopt;
  GzipIndexReader reader(index, file_bytes);
  reader.content_bytes_ = load_le64(&header[kContentBytesAt]);
  reader.marked_ = header[kVersionAt] == std::byte{1};
  reader.point_count_ = load_le32(&header[kPointCountAt]);
  // A block takes more than a byte, so there are not more points than bytes.
  if (reader.content_bytes_ / kMostContentPerByte > file_bytes || reader.point_count_ > file_bytes)
    return std::nullopt;
  return reader;
}

template <class Visit>
bool GzipIndexReader::for_each_point(const Visit& visit) {
  const std::size_t point_bytes = marked_ ? kPointBytes : kPointBytes - 1;
  std::uint64_t window_count = 0, bit = 0, before = 0;
  std::vector<std::byte> points;
  if (!index_.seek(kHeaderBytes)) return false;
  for (std::uint64_t i = 0; i < point_count_; ++i) {
    const std::size_t at = static_cast<std::size_t>(i % kPointsAtOnce) * point_bytes;
    if (at == 0) {
      points.resize(static_cast<std::size_t>(std::min(point_count_ - i, kPointsAtOnce)) * point_bytes);
      if (index_.read(points) != points.size()) return false;
    }
    const std::byte* const point = &points[at];
    const std::uint64_t byte = load_le64(point), content = load_le64(point + kContentAt);
    const unsigned bits = std::to_integer<unsigned>(point[kBitsAt]);
    if (byte > file_bytes_ || bits > 7 || byte * 8 < bits || byte * 8 - bits < bit || content < before ||
        content > content_bytes_ || content / kMostContentPerByte > byte)
      return false;
    bit = byte * 8 - bits;
    before = content;
    const bool windowed = marked_ ? point[kHasWindowAt] != std::byte{0} : i != 0;
    if (byte != file_bytes_ || bits != 0)
      visit(IndexedPoint{bit, content, windowed ? std::optional(window_count) : std::nullopt});
    if (windowed) ++window_count;
  }
  return true;
}

std::optional<std::vector<GzipIndexReader::IndexedPoint>> GzipIndexReader::points() {
  std::vector<IndexedPoint> points;
  const bool sound = for_each_point([&](const IndexedPoint& point) {
    // An index may state the same place again and again, in bytes that take no room in a file.
    if (!points.empty() && points.back().content_at == point.content_at) points.pop_back();
    points.push_back(point);
  });
  return sound ? std::optional(std::move(points)) : std::nullopt;
}

std::optional<GzipPoint> GzipIndexReader::nearest(std::uint64_t content_at) {
  std::optional<IndexedPoint> nearest;
  const bool sound = for_each_point([&](const IndexedPoint& point) {
    if (point.content_at <= content_at) nearest = point;
  });
  return sound && nearest ? read(*nearest) : std::nullopt;
}

std::optional<GzipPoint> GzipIndexReader::read(const IndexedPoint& from) {
  GzipPoint point{from.bit, from.content_at};
  if (!from.window_number) return point;
  point.window.resize(kGzipWindowBytes);
  const std::size_t point_bytes = marked_ ? kPointBytes : kPointBytes - 1;
  if (!index_.seek(kHeaderBytes + point_count_ * point_bytes + *from.window_number * kGzipWindowBytes) ||
      index_.read(point.window) != kGzipWindowBytes)
    return std::nullopt;
  return point;
}

}  // namespace hemstitch
