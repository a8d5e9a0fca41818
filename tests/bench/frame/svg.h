// Svg: the few shapes that charts need, as text. Colours that hold on light and on dark paper
// alike: middle tones, and no background. One thread at a time.

#ifndef MDVOL_TESTS_BENCH_FRAME_SVG_H_
#define MDVOL_TESTS_BENCH_FRAME_SVG_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mdvol::bench {

enum class Anchor : uint8_t { kStart, kMiddle, kEnd };

// Of series `index`; the colours come round after eight.
std::string_view SeriesColour(size_t index);
inline constexpr std::string_view kInk = "#7a7a7a";         // axes and text
inline constexpr std::string_view kFaintInk = "#7a7a7a55";  // the grid

// `text` with what XML keeps for itself replaced.
std::string EscapeXml(std::string_view text);

class Svg {
 public:
  Svg(double width, double height) : width_(width), height_(height) {}

  void Line(double x1, double y1, double x2, double y2, std::string_view colour,
            double line_width = 1, std::string_view dashes = "");
  void Rectangle(double x, double y, double width, double height, std::string_view colour);
  void Circle(double x, double y, double radius, std::string_view colour);
  void Polyline(const std::vector<std::pair<double, double>>& points, std::string_view colour);
  // `degrees` turns it about its anchor.
  void Text(double x, double y, std::string_view text, Anchor anchor = Anchor::kStart,
            double size = 12, double degrees = 0);

  std::string Finish() const;

 private:
  const double width_;
  const double height_;
  std::string body_;
};

}  // namespace mdvol::bench

#endif  // MDVOL_TESTS_BENCH_FRAME_SVG_H_
