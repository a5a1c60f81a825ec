// Draws the map of where matches point.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/xml_text.hpp"
#include "evaluate/analysis.hpp"

namespace hemstitch {
namespace {

constexpr int kWidth = 1080;
constexpr int kHeight = 640;
constexpr int kLeft = 84;  // for both panels
constexpr int kPanelWidth = 900;
constexpr int kMapTop = 96;
constexpr int kMapHeight = 320;
constexpr int kMixTop = 456;  // the lower panel
constexpr int kMixHeight = 90;
constexpr int kColumns = 300;  // 3 pixels each
constexpr int kRows = 64;      // four for each doubling of the distance, 5 pixels each
constexpr double kLargestLog = 16;

// From near to far: cold to warm colours. Each is also lighter or darker than the one before, for readers who
// cannot distinguish the colours.
constexpr std::array<const char*, 5> kColours = {"#1d3557", "#2a7ab0", "#3aa78f", "#e9a23b", "#c8403c"};
constexpr const char* kLiteralColour = "#e4e4e0";
constexpr const char* kInk = "#2b2b2b";
constexpr const char* kFaint = "#8a8a86";

struct Column {
  std::array<double, kRows> bytes_by_row{};
  std::array<double, kDistanceClassEnds.size()> bytes_by_class{};
};

int row_of(std::uint32_t offset) {
  const double log = std::log2(static_cast<double>(offset));
  return std::min(kRows - 1, static_cast<int>(log / kLargestLog * kRows));
}

std::vector<Column> columns_of(const MatchAnalysis& analysis, double column_bytes) {
  std::vector<Column> columns(kColumns);
  for (const PositionedMatch& match : analysis.matches) {
    // A long match counts in all columns that it covers.
    for (double begin = static_cast<double>(match.position), end = begin + match.length; begin < end;) {
      const int index = std::min(kColumns - 1, static_cast<int>(begin / column_bytes));
      const double next = index == kColumns - 1 ? end : std::min(end, (index + 1) * column_bytes);
      const double bytes = std::max(next - begin, 1e-6);
      columns[static_cast<std::size_t>(index)].bytes_by_row[static_cast<std::size_t>(row_of(match.offset))] +=
          bytes;
      columns[static_cast<std::size_t>(index)].bytes_by_class[distance_class(match.offset)] += bytes;
      begin += bytes;
    }
  }
  return columns;
}

std::string bytes_text(double bytes) {
  if (bytes >= 1024 * 1024) return fmt::format("{:.1f} MB", bytes / (1024 * 1024));
  if (bytes >= 1024) return fmt::format("{:.0f} KB", bytes / 1024);
  return fmt::format("{:.0f} B", bytes);
}

std::string label(double x, double y, const char* anchor, const char* colour, const std::string& text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" fill=\"{}\">{}</text>\n", x, y,
                     anchor, colour, text);
}

std::string rectangle(double x, double y, double width, double height, const char* colour,
                      double opacity = 1) {
  return fmt::format("<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"{}\"{}/>\n",
                     x, y, width, height, colour,
                     opacity < 1 ? fmt::format(" fill-opacity=\"{:.2f}\"", opacity) : "");
}

std::string legend(const MatchAnalysis& analysis, double file_bytes) {
  std::string svg;
  const auto entry = [&](std::size_t place, const char* colour, const std::string& name, double bytes) {
    const double x = kLeft + static_cast<double>(place) * 150;
    svg += rectangle(x, 62, 14, 14, colour);
    svg += label(x + 20, 74, "start", kInk, fmt::format("{}  {:.1f}%", name, 100 * bytes / file_bytes));
  };
  for (std::size_t i = 0; i < kColours.size(); ++i)
    entry(i, kColours[i], kDistanceClassNames[i], static_cast<double>(analysis.by_distance[i].matched_bytes));
  entry(kColours.size(), kLiteralColour, "literals", static_cast<double>(analysis.literal_count));
  return svg;
}

std::string axes(double file_bytes) {
  std::string svg;
  for (const std::uint32_t distance : {1u, 16u, 256u, 1024u, 4096u, 8192u, 32768u, 65536u}) {
    const double y = kMapTop + kMapHeight * (1 - std::log2(distance) / kLargestLog);
    svg += fmt::format("<line x1=\"{}\" y1=\"{:.1f}\" x2=\"{}\" y2=\"{:.1f}\" stroke=\"#d8d8d4\"/>\n", kLeft,
                       y, kLeft + kPanelWidth, y);
    svg += label(kLeft - 8, y + 4, "end", kFaint, bytes_text(distance));
  }
  for (int part = 0; part <= 4; ++part) {
    const double x = kLeft + kPanelWidth * part / 4.0;
    svg += label(x, kMixTop + kMixHeight + 20, "middle", kFaint, bytes_text(file_bytes * part / 4));
  }
  svg += label(kLeft + kPanelWidth / 2.0, kMixTop + kMixHeight + 44, "middle", kInk, "position in the file");
  svg += fmt::format(
      "<text transform=\"translate(20 {}) rotate(-90)\" text-anchor=\"middle\" fill=\"{}\">distance "
      "back</text>\n",
      kMapTop + kMapHeight / 2, kInk);
  svg += fmt::format(
      "<text transform=\"translate(20 {}) rotate(-90)\" text-anchor=\"middle\" fill=\"{}\">made of</text>\n",
      kMixTop + kMixHeight / 2, kInk);
  svg += label(kLeft - 8, kMixTop + 10, "end", kFaint, "100%");
  svg += label(kLeft - 8, kMixTop + kMixHeight, "end", kFaint, "0%");
  return svg;
}

}  // namespace

std::string match_map_svg(const MatchAnalysis& analysis, const std::string& file_name,
                          std::uint64_t file_bytes) {
  const double bytes = std::max(1.0, static_cast<double>(file_bytes));
  const double column_bytes = bytes / kColumns;
  const double column_width = static_cast<double>(kPanelWidth) / kColumns;
  const double row_height = static_cast<double>(kMapHeight) / kRows;
  const std::vector<Column> columns = columns_of(analysis, column_bytes);

  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
      "font-family=\"sans-serif\" font-size=\"13\">\n",
      kWidth, kHeight);
  svg += rectangle(0, 0, kWidth, kHeight, "#ffffff");
  svg += fmt::format(
      "<text x=\"{}\" y=\"30\" font-size=\"19\" fill=\"{}\">Where the matches of {} point</text>\n", kLeft,
      kInk, xml_text(file_name));
  svg += label(kLeft, 50, "start", kFaint,
               fmt::format("{}, {} matches of {:.1f} bytes on average, found by {}", bytes_text(bytes),
                           analysis.all.match_count,
                           analysis.all.match_count == 0 ? 0.0
                                                         : static_cast<double>(analysis.all.matched_bytes) /
                                                               static_cast<double>(analysis.all.match_count),
                           xml_text(analysis.finder)));
  svg += legend(analysis, bytes);
  svg += axes(bytes);

  svg += "<g shape-rendering=\"crispEdges\">\n";
  for (int column = 0; column < kColumns; ++column) {
    const Column& c = columns[static_cast<std::size_t>(column)];
    const double x = kLeft + column * column_width;
    for (int row = 0; row < kRows; ++row) {
      const double share = c.bytes_by_row[static_cast<std::size_t>(row)] / column_bytes;
      if (share < 0.001) continue;
      // With the square root, a distance is visible even if it serves only a few percent of the bytes.
      const auto offset = static_cast<std::uint32_t>(std::exp2((row + 0.5) * kLargestLog / kRows));
      svg += rectangle(x, kMapTop + kMapHeight - (row + 1) * row_height, column_width, row_height,
                       kColours[distance_class(offset)], std::min(1.0, 0.08 + 1.6 * std::sqrt(share)));
    }
    double bottom = kMixTop + kMixHeight;
    svg += rectangle(x, kMixTop, column_width, kMixHeight, kLiteralColour);
    for (std::size_t i = 0; i < kColours.size(); ++i) {
      const double height = kMixHeight * std::min(1.0, c.bytes_by_class[i] / column_bytes);
      if (height < 0.01) continue;
      bottom -= height;
      svg += rectangle(x, bottom, column_width, height, kColours[i]);
    }
  }
  svg += "</g>\n</svg>\n";
  return svg;
}

}  // namespace hemstitch
