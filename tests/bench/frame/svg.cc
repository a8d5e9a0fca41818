// See svg.h.

#include "tests/bench/frame/svg.h"

#include <array>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace mdvol::bench {
namespace {

// After Okabe and Ito, told apart by people who see fewer colours; yellow and black are left out,
// as one paper or the other would swallow them.
constexpr std::array<std::string_view, 8> kColours{"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                   "#56b4e9", "#e69f00", "#8c6bb1", "#7f9f3f"};

constexpr std::array<const char*, 3> kAnchors{"start", "middle", "end"};

}  // namespace

std::string_view SeriesColour(size_t index) { return kColours[index % kColours.size()]; }

std::string EscapeXml(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

void Svg::Line(double x1, double y1, double x2, double y2, std::string_view colour,
               double line_width, std::string_view dashes) {
  absl::StrAppendFormat(&body_,
                        "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" "
                        "stroke-width=\"%.1f\"",
                        x1, y1, x2, y2, std::string(colour), line_width);
  if (!dashes.empty()) {
    absl::StrAppendFormat(&body_, " stroke-dasharray=\"%s\"", std::string(dashes));
  }
  body_ += "/>\n";
}

void Svg::Rectangle(double x, double y, double width, double height, std::string_view colour) {
  absl::StrAppendFormat(
      &body_, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n", x, y,
      width, height, std::string(colour));
}

void Svg::Circle(double x, double y, double radius, std::string_view colour) {
  absl::StrAppendFormat(&body_, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"%s\"/>\n", x, y,
                        radius, std::string(colour));
}

void Svg::Polyline(const std::vector<std::pair<double, double>>& points, std::string_view colour) {
  body_ += "<polyline fill=\"none\" stroke-width=\"2\" stroke=\"";
  absl::StrAppend(&body_, std::string(colour), "\" points=\"");
  for (const auto& [x, y] : points) {
    absl::StrAppendFormat(&body_, "%.1f,%.1f ", x, y);
  }
  body_ += "\"/>\n";
}

void Svg::Text(double x, double y, std::string_view text, Anchor anchor, double size,
               double degrees) {
  absl::StrAppendFormat(&body_, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%.0f\" text-anchor=\"%s\"",
                        x, y, size, kAnchors[static_cast<size_t>(anchor)]);
  if (degrees != 0) {
    absl::StrAppendFormat(&body_, " transform=\"rotate(%.0f %.1f %.1f)\"", degrees, x, y);
  }
  absl::StrAppend(&body_, ">", EscapeXml(text), "</text>\n");
}

std::string Svg::Finish() const {
  return absl::StrFormat(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" "
             "font-family=\"sans-serif\" fill=\"%s\">\n",
             width_, height_, std::string(kInk)) +
         body_ + "</svg>\n";
}

}  // namespace mdvol::bench
