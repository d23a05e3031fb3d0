// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdexcept>
#include <utility>

#include "hough_circles_math.hpp"

namespace gstcv::kernels {

using namespace circles;

CellGrid circle_cells(int width, int height, float dp) {
  return {static_cast<int>(std::ceil(width / dp)) + 2, static_cast<int>(std::ceil(height / dp)) + 2};
}

// Two neighbours in a row cannot both be peaks.
int most_centres(const CellGrid& grid) { return (grid.width + 1) / 2 * grid.height; }

std::vector<Centre> choose_centres(std::vector<Centre> centres, const CircleSettings& s) {
  std::sort(centres.begin(), centres.end(), [](const Centre& a, const Centre& b) {
    return a.votes != b.votes ? a.votes > b.votes : a.y != b.y ? a.y < b.y : a.x < b.x;
  });
  // Squares as wide as the distance: only those around a centre can hold one that is too near.
  const float distance = s.min_dist / s.dp;
  const int side = std::max(1, static_cast<int>(std::ceil(distance)));
  constexpr int most_cells = 65536;
  const std::int64_t columns = most_cells / side + 1;
  using Square = std::pair<std::int64_t, std::size_t>;
  std::vector<Square> squares;  // of the chosen ones, sorted
  std::vector<Centre> chosen;
  for (const Centre& c : centres) {
    if (static_cast<int>(chosen.size()) == s.max_circles) break;
    const int column = c.x / side, row = c.y / side;
    bool free = true;
    for (int v = row - 1; v <= row + 1 && free; v++)
      for (int u = std::max(column - 1, 0); u <= column + 1 && free; u++) {
        const Square square(v * columns + u, 0);
        for (auto i = std::lower_bound(squares.begin(), squares.end(), square);
             i != squares.end() && i->first == square.first && free; ++i) {
          const float dx = static_cast<float>(c.x) - chosen[i->second].x;
          const float dy = static_cast<float>(c.y) - chosen[i->second].y;
          free = dx * dx + dy * dy >= distance * distance;
        }
      }
    if (!free) continue;
    const Square own(row * columns + column, chosen.size());
    squares.insert(std::lower_bound(squares.begin(), squares.end(), own), own);
    chosen.push_back(c);
  }
  return chosen;
}

std::vector<EdgePoint> edge_points_cpu(const Plane& image, const Plane& edges) {
  std::vector<EdgePoint> points;
  for (int y = 0; y < edges.height; y++) {
    const auto* row = static_cast<const std::uint8_t*>(edges.data) + y * edges.step;
    for (int x = 0; x < edges.width; x++)
      if (row[x]) points.push_back(edge_point(image, x, y));
  }
  return points;
}

std::vector<Centre> centres_cpu(const std::vector<EdgePoint>& points, const CellGrid& grid, const CircleSettings& s) {
  std::vector<unsigned> votes(static_cast<std::size_t>(grid.width) * grid.height);
  for (const EdgePoint& p : points) {
    const Line line = line_of(p, 1 / s.dp);
    for (const int side : {1, -1})
      for (int r = s.min_radius; r <= s.max_radius; r++) {
        const int cell = cell_at(line, r, side, grid);
        if (cell < 0) break;
        votes[cell]++;
      }
  }
  std::vector<Centre> centres;
  for (int y = 0; y < grid.height - 2; y++)
    for (int x = 0; x < grid.width - 2; x++) {
      const unsigned* v = votes.data() + static_cast<std::size_t>(y + 1) * grid.width + x + 1;
      if (*v > static_cast<unsigned>(s.votes) && is_peak(*v, v[-1], v[1]) && is_peak(*v, v[-grid.width], v[grid.width]))
        centres.push_back({*v, static_cast<std::uint16_t>(x), static_cast<std::uint16_t>(y)});
    }
  return centres;
}

Radii radii_cpu(const std::vector<EdgePoint>& points, const Centre& centre, const CircleSettings& s) {
  const int count = s.max_radius - s.min_radius + 1;
  std::vector<unsigned> votes(count + 2);  // with a border
  for (const EdgePoint& p : points)
    if (const int r = radius_of(p, centre, s); r >= 0) votes[r + 1]++;
  std::vector<std::pair<unsigned, int>> peaks;
  for (int r = 0; r < count; r++)
    if (votes[r + 1] >= static_cast<unsigned>(s.votes) && is_peak(votes[r + 1], votes[r], votes[r + 2]))
      peaks.emplace_back(votes[r + 1], -r);
  std::sort(peaks.rbegin(), peaks.rend());
  Radii out{};
  for (const auto& [v, r] : peaks)
    if (out.count < most_radii) out.radius[out.count++] = s.min_radius - r;
  return out;
}

}  // namespace gstcv::kernels
