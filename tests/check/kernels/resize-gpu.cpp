// SPDX-License-Identifier: LGPL-2.1-or-later
// resize_gpu against the formulas in double precision, its CPU twin, cv::resize and cv::cuda::resize, for all types,
// interpolations and samplings, at odd sizes, with aligned and odd rows. Exits with 77 (skipped) without a device.
#include <cuda_runtime_api.h>

#include <opencv2/core/cuda.hpp>
#include <opencv2/core/cuda_stream_accessor.hpp>
#include <opencv2/cudawarping.hpp>
#include <stdexcept>

#include "resize_opencv.hpp"

namespace {

using namespace resize_test;

void must(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorName(error));
}

class DeviceCopy {
 public:
  explicit DeviceCopy(Image& image) : image_(image) {
    must(cudaMalloc(&data_, image.bytes().size()));
    must(cudaMemcpy(data_, image.bytes().data(), image.bytes().size(), cudaMemcpyHostToDevice));
  }
  ~DeviceCopy() { cudaFree(data_); }
  DeviceCopy(const DeviceCopy&) = delete;
  DeviceCopy& operator=(const DeviceCopy&) = delete;

  [[nodiscard]] Plane plane() const { return image_.plane_at(data_); }
  void download() const {
    must(cudaMemcpy(image_.bytes().data(), data_, image_.bytes().size(), cudaMemcpyDeviceToHost));
  }

 private:
  Image& image_;
  void* data_ = nullptr;
};

// Same arithmetic, so the same results; only lanczos4's sine comes from another library.
void check_against_twin(const Case& c, Image& source, const Image& result) {
  Image twin(c.depth, c.channels, c.scale.to, 0, 0);
  resize_cpu(c.depth, c.channels, source.plane(), twin.plane(), c.interpolation, c.sampling, 0, c.scale.to.height);
  const Difference d = compare(c, result, [&](int y, int i) { return twin.at(y, i); });
  bool good = d.largest == 0;
  if (c.depth == Depth::f32)
    good = d.largest <= 1e-5;
  else if (c.interpolation == Interpolation::lanczos4)
    good = c.depth == Depth::u8 ? rounding_only(result, d) : d.largest <= 1;
  check::that(good, "GPU against CPU, " + c.name() + ": " + text(d));
}

// cv::cuda::resize adds in another order and divides by the sum of the weights: ties fall either way, often so where
// the factors make many of them. Nearest is exact. Its positions are single precision too, 4e-5 pixels off at column
// 640: up to 2.6 between neighbouring 16-bit noise values, which shows where cubic's weights enlarge it.
void check_against_opencv_cuda(const Case& c, Image& source, const Image& result, cv::cuda::Stream& stream,
                               double& share) {
  cv::cuda::GpuMat in(mat_of(c, source)), out;
  cv::cuda::resize(in, out, {c.scale.to.width, c.scale.to.height}, 0, 0, cv_interpolation(c), stream);
  stream.waitForCompletion();
  const cv::Mat expected(out);
  const Difference d = compare(c, result, expected);
  const bool good = c.interpolation == Interpolation::nearest                         ? d.largest == 0
                    : c.depth == Depth::f32                                           ? d.largest <= 1e-4
                    : c.interpolation == Interpolation::cubic && c.depth != Depth::u8 ? d.largest <= 3
                                                                                      : d.largest <= 1;
  check::that(good, "GPU against cv::cuda::resize, " + c.name() + ": " + text(d));
  if (c.depth == Depth::u8) share = std::max(share, d.share);
}

void run() {
  cv::cuda::Stream stream;
  Shares shares;
  double opencv_cuda[5] = {};
  unsigned seed = 1;
  for_each_case([&](const Case& c) {
    // Rows on multiples of 256 bytes, as frames have them, and rows at any element.
    const auto row = static_cast<std::size_t>(c.scale.to.width) * c.channels;
    const std::size_t padding_to_256 = (row + 255) / 256 * 256 - row;
    for (const bool aligned : {true, false}) {
      Image source(c.depth, c.channels, c.scale.from, aligned ? 0 : 3, aligned ? 0 : 1);
      Image result(c.depth, c.channels, c.scale.to, aligned ? padding_to_256 : 5, aligned ? 0 : 1);
      source.fill_with_noise(seed++);
      {
        const DeviceCopy from(source), to(result);
        resize_gpu(c.depth, c.channels, from.plane(), to.plane(), c.interpolation, c.sampling,
                   cv::cuda::StreamAccessor::getStream(stream));
        stream.waitForCompletion();
        to.download();
      }
      check::that(result.guards_intact(), "bytes outside the pixels are as they were: " + c.name());
      check_against_twin(c, source, result);
      if (!aligned) continue;  // the twin is checked against the rest
      const auto i = static_cast<int>(c.interpolation), s = static_cast<int>(c.sampling);
      check_against_formula(c, source, result, "GPU", &shares.formula[i][s]);
      if (has_opencv_twin(c))
        check_against_opencv(c, source, result, "GPU", &shares.opencv[i]);
      else if (c.channels != 2)
        check_against_opencv_cuda(c, source, result, stream, opencv_cuda[i]);
    }
  });
  shares.print();
  std::printf("8 bit against cv::cuda::resize, corner: linear %.4f %%, cubic %.4f %%\n", 100 * opencv_cuda[1],
              100 * opencv_cuda[2]);
}

}  // namespace

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices < 1) {
    check::skip("no CUDA device");
    return check::finish();
  }
  try {
    run();
  } catch (const std::exception& error) {
    check::that(false, error.what());
  }
  return check::finish();
}
