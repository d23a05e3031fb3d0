// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <opencv2/imgproc.hpp>

#include "gst/framework/element.hpp"
#include "gst/framework/planes.hpp"
#include "src/kernels/canny.hpp"
#include "src/kernels/hough_circles.hpp"

namespace gstcv {
namespace {

using kernels::Centre;
using kernels::EdgePoint;
using kernels::Radii;

struct HoughCircles {
  double dp = 1, min_dist = 20;
  int canny_threshold = 100, votes_threshold = 50, min_radius = 10, max_radius = 100, max_circles = 4096;

  [[nodiscard]] std::string check(const Layout& image) const {
    if (max_radius <= min_radius) return "max-radius must be larger than min-radius";
    if (image.width > kernels::most_side || image.height > kernels::most_side ||
        static_cast<long long>(image.width) * image.height > 1 << 28)
      return "the image is larger than 65535 pixels a side or 268 megapixels";
    return {};
  }

  void gpu(const GpuMat& image, Values<GpuMat>& v, GpuStream& stream) {
    CUstream_st* const s = queue_of(stream);
    const kernels::CircleSettings settings = all_settings();
    const kernels::CellGrid grid = kernels::circle_cells(image.cols, image.rows, settings.dp);
    cv::cuda::createContinuous(image.rows, kernels::canny_scratch_width(image.cols), CV_32SC1, labels);
    edges.create(image.rows, (image.cols + 15) / 16 * 16, CV_8UC1);
    cv::cuda::ensureSizeIsEnough(1, image.rows * image.cols, CV_32SC2, points);
    cv::cuda::ensureSizeIsEnough(1, grid.width * grid.height, CV_32SC1, votes);
    cv::cuda::ensureSizeIsEnough(1, std::max(head + kernels::most_centres(grid), first_part), CV_32SC2, found);
    if (counts.empty()) counts.create(1, 1, CV_32SC1);

    const kernels::Plane edge_plane{edges.data, edges.step, image.cols, image.rows};
    kernels::canny_gpu(plane_of(image), edge_plane, {low_threshold(), high_threshold()}, labels.ptr<unsigned>(), s);
    auto* const point_list = reinterpret_cast<EdgePoint*>(points.data);
    auto* const point_count = counts.ptr<unsigned>();
    kernels::edge_points_gpu(plane_of(image), edge_plane, point_list, point_count, s);
    auto* const centre_list = reinterpret_cast<Centre*>(found.data) + head;
    kernels::centres_gpu(point_list, point_count, grid, votes.ptr<unsigned>(), centre_list, found.ptr<unsigned>(),
                         settings, s);
    // Which centres are too near to better ones is decided in the order of their votes, on the host.
    chosen = kernels::choose_centres(download_centres(stream), settings);
    v[0].release();
    if (chosen.empty()) return;
    const int count = static_cast<int>(chosen.size());
    // In steps, so that the framework's buffer for the download is not made anew for each frame.
    int rows = 64;
    while (rows < count) rows *= 2;
    if (upload.empty() || upload.cols < rows) upload.create(1, rows, CV_32SC2);
    std::copy(chosen.begin(), chosen.end(), reinterpret_cast<Centre*>(upload.data));
    cv::cuda::ensureSizeIsEnough(1, rows, CV_32SC2, centres);
    centres.upload(upload.createMatHeader().colRange(0, rows), stream);
    cv::cuda::createContinuous(rows, sizeof(Radii) / sizeof(int), CV_32SC1, radii);
    kernels::radii_gpu(point_list, point_count, reinterpret_cast<const Centre*>(centres.data), count,
                       reinterpret_cast<Radii*>(radii.data), settings, s);
    v[0] = radii;
  }

  void cpu(const Mat& image, Values<Mat>& v) {
    const kernels::CircleSettings settings = all_settings();
    Mat edge_map;
    cv::Canny(image, edge_map, low_threshold(), high_threshold());
    const auto list = kernels::edge_points_cpu(plane_of(image), plane_of(edge_map));
    const kernels::CellGrid grid = kernels::circle_cells(image.cols, image.rows, settings.dp);
    chosen = kernels::choose_centres(kernels::centres_cpu(list, grid, settings), settings);
    v[0].create(static_cast<int>(chosen.size()), sizeof(Radii) / sizeof(int), CV_32SC1);
    for (std::size_t i = 0; i < chosen.size(); i++)
      *v[0].ptr<Radii>(static_cast<int>(i)) = kernels::radii_cpu(list, chosen[i], settings);
  }

  void result(const Values<Mat>& v, Result& r) const {
    std::vector<cv::Vec3f> circles;
    for (std::size_t i = 0; i < chosen.size(); i++) {
      const Radii& radii_here = *v[0].ptr<Radii>(static_cast<int>(i));
      for (int k = 0; k < radii_here.count && static_cast<int>(circles.size()) < max_circles; k++)
        circles.emplace_back(static_cast<float>((chosen[i].x + 0.5) * dp), static_cast<float>((chosen[i].y + 0.5) * dp),
                             static_cast<float>(radii_here.radius[k]));
    }
    r.set("count", static_cast<int>(circles.size()));
    Mat all(static_cast<int>(circles.size()), 1, CV_32FC3);  // without a circle it has no rows, but its type
    std::copy(circles.begin(), circles.end(), all.begin<cv::Vec3f>());
    r.set("circles", all);
  }

  void draw(const Result& r, Mat& image) const {
    const Mat& circles = r.get<Mat>("circles");
    // White on black, so that it can be seen on any image.
    for (const auto& [level, thickness] : {std::pair(0, 4), std::pair(255, 2)})
      for (int i = 0; i < circles.rows; i++) {
        const auto c = circles.at<cv::Vec3f>(i);
        const cv::Point centre(cvRound(c[0]), cvRound(c[1]));
        cv::circle(image, centre, cvRound(c[2]), cv::Scalar::all(level), thickness);
        cv::drawMarker(image, centre, cv::Scalar::all(level), cv::MARKER_CROSS, 9, thickness);
      }
  }

 private:
  static constexpr int head = 1;  // elements before the centres, of which the first is their count
  // Downloaded at once with the count: most frames have fewer centres.
  static constexpr int first_part = 4096;

  [[nodiscard]] kernels::CircleSettings all_settings() const {
    return {static_cast<float>(dp), static_cast<float>(min_dist), votes_threshold, min_radius, max_radius, max_circles};
  }
  [[nodiscard]] double high_threshold() const { return canny_threshold; }
  [[nodiscard]] double low_threshold() const { return std::max(canny_threshold / 2, 1); }

  std::vector<Centre> download_centres(GpuStream& stream) {
    auto get = [&](int begin, int end) {
      if (downloaded.cols < end) {
        cv::cuda::HostMem larger(1, end, CV_32SC2);
        downloaded.createMatHeader().copyTo(larger.createMatHeader().colRange(0, downloaded.cols));
        downloaded = larger;
      }
      found.colRange(begin, end).download(downloaded.createMatHeader().colRange(begin, end), stream);
      stream.waitForCompletion();
    };
    if (downloaded.empty()) downloaded.create(1, first_part, CV_32SC2);
    get(0, first_part);
    const int count = *reinterpret_cast<const int*>(downloaded.data);
    if (head + count > first_part) get(first_part, head + count);
    const auto* first = reinterpret_cast<const Centre*>(downloaded.data) + head;
    return {first, first + count};
  }

  GpuMat labels, edges, points, counts, votes, found, centres, radii;
  cv::cuda::HostMem downloaded, upload;
  std::vector<Centre> chosen;  // of the last frame, in the order of the radii
};

}  // namespace

extern const Element houghcircles =
    analyzer<HoughCircles>("cudahoughcircles", "CUDA Hough circle detector")
        .same(luma8())
        .property("dp", &HoughCircles::dp, {1, 64}, "Side of a cell that collects votes for a centre, in pixels")
        .property("min-dist", &HoughCircles::min_dist, {0, 65535}, "Least distance between centres, in pixels")
        .property("canny-threshold", &HoughCircles::canny_threshold, {1, 2040},
                  "Gradient from which a pixel starts an edge; edges go on down to half of it")
        .property("votes-threshold", &HoughCircles::votes_threshold, {1, 65535},
                  "Edge pixels that must point to a centre, and that must lie on a circle")
        .property("min-radius", &HoughCircles::min_radius, {1, kernels::most_radius - 1}, "Smallest radius, in pixels")
        .property("max-radius", &HoughCircles::max_radius, {2, kernels::most_radius},
                  "Largest radius, in pixels; more than min-radius")
        .property("max-circles", &HoughCircles::max_circles, {1, 4096}, "No more circles are given")
        .result_field("count", "int", "How many circles were found")
        .result_field(
            "circles", "GBytes, a mat of type 32FC3 with 1 column",
            "A row for each circle: x and y of its centre and its radius, in pixels; those whose centres have most "
            "votes come first")
        .doc("cv::cuda::createHoughCirclesDetector",
             "Finds circles: `circles`, a mat with a row of x, y and radius for each. Edges are those of cudacanny; "
             "each edge pixel votes for the centres in the direction of its gradient, and the distances of a centre to "
             "all edge pixels for its radii, of which it may have up to 15. GPU and CPU find the same circles. "
             "draw=true paints them with their centres.",
             "videotestsrc pattern=ball ! cudahoughcircles draw=true ! videoconvert ! autovideosink");

}  // namespace gstcv
