// SPDX-License-Identifier: LGPL-2.1-or-later
#include <array>
#include <opencv2/imgproc.hpp>

#include "gst/framework/element.hpp"
#include "gst/framework/planes.hpp"
#include "src/kernels/morphology.hpp"

namespace gstcv {
namespace {

const GEnumValue op_values[] = {{cv::MORPH_ERODE, "The least value under the kernel", "erode"},
                                {cv::MORPH_DILATE, "The greatest value under the kernel", "dilate"},
                                {cv::MORPH_OPEN, "Eroded, then dilated: removes bright specks", "open"},
                                {cv::MORPH_CLOSE, "Dilated, then eroded: removes dark specks", "close"},
                                {cv::MORPH_GRADIENT, "Dilated minus eroded: outlines", "gradient"},
                                {cv::MORPH_TOPHAT, "The image minus opened: bright specks", "tophat"},
                                {cv::MORPH_BLACKHAT, "Closed minus the image: dark specks", "blackhat"},
                                {0, nullptr, nullptr}};
const EnumType op_type{"GstOpenCvCudaMorphTypes", op_values};

const GEnumValue shape_values[] = {{cv::MORPH_RECT, "All of it", "rect"},
                                   {cv::MORPH_CROSS, "The row and the column of the anchor", "cross"},
                                   {cv::MORPH_ELLIPSE, "The ellipse that fills it", "ellipse"},
                                   {0, nullptr, nullptr}};
const EnumType shape_type{"GstOpenCvCudaMorphShapes", shape_values};

struct MorphologyFilter {
  int op = cv::MORPH_ERODE, shape = cv::MORPH_RECT;
  Size ksize{3, 3};
  Mat kernel;
  int anchor_x = -1, anchor_y = -1, iterations = 1;
  Memo<kernels::MorphPlan> plan;
  std::array<GpuMat, 2> scratch;

  std::string check(const Layout&) const {
    const Size size = kernel_size();
    if (anchor_x >= size.width || anchor_y >= size.height)
      return "the anchor (" + std::to_string(anchor_x) + ", " + std::to_string(anchor_y) +
             ") lies outside the kernel, " + std::to_string(size.width) + "x" + std::to_string(size.height);
    if (!kernel.empty() && cv::countNonZero(kernel) == 0) return "kernel has no member: all of its numbers are 0";
    return {};
  }
  bool identity(const Layout&, const Layout&) const { return op <= cv::MORPH_CLOSE && kernel_size() == Size(1, 1); }

  void gpu(const GpuMat& in, GpuMat& out, GpuStream& stream) {
    const kernels::MorphPlan& p = plan.get([&] { return make_plan(in.type()); }, in.type(), op, shape, ksize.width,
                                           ksize.height, kernel, anchor_x, anchor_y, iterations);
    std::vector<kernels::Plane> planes;
    for (std::size_t i = 0; i < static_cast<std::size_t>(kernels::scratch_planes(p)); i++) {
      scratch[i].create(in.size(), in.type());
      planes.push_back(plane_of(scratch[i]));
    }
    kernels::morphology_gpu(p, plane_of(in), plane_of(out), planes, queue_of(stream));
  }

  void cpu(const Mat& in, Mat& out) const {
    cv::morphologyEx(in, out, op, structuring_element(), anchor(), iterations);
  }

 private:
  [[nodiscard]] Size kernel_size() const { return kernel.empty() ? ksize : kernel.size(); }
  [[nodiscard]] cv::Point anchor() const {
    const Size size = kernel_size();
    return {anchor_x < 0 ? size.width / 2 : anchor_x, anchor_y < 0 ? size.height / 2 : anchor_y};
  }
  [[nodiscard]] Mat structuring_element() const {
    return kernel.empty() ? cv::getStructuringElement(shape, ksize, anchor()) : Mat(kernel != 0);
  }
  [[nodiscard]] kernels::MorphPlan make_plan(int type) const {
    const Mat element = structuring_element();
    return kernels::plan_morphology(
        depth_of(CV_MAT_DEPTH(type)), CV_MAT_CN(type), static_cast<kernels::Morph>(op),
        {element.cols, element.rows, anchor().x, anchor().y, {element.begin<uchar>(), element.end<uchar>()}},
        iterations);
  }
};

}  // namespace

extern const Element morphologyfilter =
    filter<MorphologyFilter>("cudamorphologyfilter", "CUDA morphology")
        .same(luma8() + types({CV_8U, CV_16U, CV_32F}, {1, 3, 4}))
        .property("op", &MorphologyFilter::op, op_type, "What is done")
        .property("shape", &MorphologyFilter::shape, shape_type, "Which pixels of ksize belong to the kernel")
        .property("ksize", &MorphologyFilter::ksize, {1, kernels::most_structure_side}, "Kernel size in pixels")
        .property("kernel", &MorphologyFilter::kernel, {1, kernels::most_structure_side},
                  "Kernel of any shape in place of shape and ksize: what is not 0 belongs to it")
        .property("anchor-x", &MorphologyFilter::anchor_x, {-1, kernels::most_structure_side - 1},
                  "Column of the kernel that lies on the pixel; -1: the middle")
        .property("anchor-y", &MorphologyFilter::anchor_y, {-1, kernels::most_structure_side - 1},
                  "Row of the kernel that lies on the pixel; -1: the middle")
        .property("iterations", &MorphologyFilter::iterations, {1, 100},
                  "How often it is eroded, and dilated; opening erodes so often, then dilates so often")
        .doc("cv::cuda::createMorphologyFilter",
             "Erosion, dilation and what is made of them, each channel by itself. What lies outside the image does not "
             "count, as in cv::morphologyEx; GPU and CPU give the same, but for floats that are not numbers (NaN). An "
             "anchor outside the kernel is an error, and a kernel of zeros only.",
             "videotestsrc pattern=ball ! cudamorphologyfilter op=gradient shape=ellipse ksize=7 ! videoconvert ! "
             "autovideosink");

}  // namespace gstcv
