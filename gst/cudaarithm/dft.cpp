// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <cstdint>
#include <opencv2/cudaarithm.hpp>

#include "gst/framework/element.hpp"
#include "gst/framework/planes.hpp"
#include "src/kernels/spectrum.hpp"

namespace gstcv {
namespace {

const Formats real = mats({CV_32FC1}), complex_numbers = mats({CV_32FC2});

struct Dft {
  bool inverse = false, by_rows = false, scale = false, complex_input = false, real_output = false, odd_width = false;
  bool magnitude_spectrum = false;
  Memo<Ptr<cv::cuda::DFT>> plan;
  GpuMat source, target, partial;

  std::vector<FormatRow> rows() const {
    if (magnitude_spectrum) return {{real + luma8(), gray8()}};
    if (real_output) return {{complex_numbers, real}};
    if (inverse || complex_input) return {{complex_numbers, complex_numbers}};
    return {{real, complex_numbers}};
  }
  static std::vector<FormatRow> all_rows() {
    return {{real, complex_numbers + gray8()}, {complex_numbers, complex_numbers + real}, {luma8(), gray8()}};
  }

  std::string check(const Layout&) const {
    if (magnitude_spectrum && (inverse || by_rows || scale || complex_input || real_output))
      return "magnitude-spectrum shows the plain transform of a real image: inverse, rows, scale, complex-input and "
             "real-output must be false";
    if (real_output && !inverse) return "real-output=true needs inverse=true: a real image's transform is complex";
    return {};
  }

  Size output_size(Size in) const {
    if (magnitude_spectrum) return in;
    if (real_output) {
      const auto width = 2 * (static_cast<std::int64_t>(in.width) - 1) + (odd_width ? 1 : 0);
      return {static_cast<int>(std::clamp<std::int64_t>(width, 1, G_MAXINT)), in.height};
    }
    return {inverse || complex_input ? in.width : in.width / 2 + 1, in.height};
  }

  void gpu(const GpuMat& in, GpuMat& out, GpuStream& stream) {
    if (out.type() == CV_8UC1) {
      draw(in, out, stream);
      return;
    }
    const bool from_real = in.channels() == 1, to_real = out.channels() == 1;
    const Size size = to_real ? out.size() : in.size();
    if (size.width == 1 && (by_rows || size.height == 1)) {  // each number is its own transform
      if (from_real)
        as_complex(in, out, stream);
      else
        (to_real ? in.reshape(1).colRange(0, 1) : in).copyTo(out, stream);
      return;
    }
    if (to_real) {
      cv::cuda::createContinuous(in.size(), CV_32FC2, source);
      kernels::symmetric_half_gpu(plane_of(in), source.ptr<float>(), size.width, by_rows, queue_of(stream));
      transform(source, out, size, stream);
    } else if (from_real && size.width == 1) {  // the real transform would give half of the column
      cv::cuda::createContinuous(size, CV_32FC2, source);
      as_complex(in, source, stream);
      transform(source, out, size, stream);
    } else {
      transform(without_gaps(in, stream), out, size, stream);
    }
  }

  void cpu(const Mat& in, Mat& out) const {
    const int flags = (inverse ? cv::DFT_INVERSE : 0) | (by_rows ? cv::DFT_ROWS : 0) | (scale ? cv::DFT_SCALE : 0);
    if (out.type() == CV_8UC1) {
      Mat numbers, spectrum;
      in.convertTo(numbers, CV_32F);
      cv::dft(numbers, spectrum, cv::DFT_COMPLEX_OUTPUT);
      if (in.cols == 1) spectrum = spectrum.t();
      kernels::spectrum_picture_cpu(half_spectrum(spectrum, in.size()), plane_of(out));
    } else if (in.channels() == 1) {
      Mat spectrum;
      cv::dft(in, spectrum, flags | cv::DFT_COMPLEX_OUTPUT);
      spectrum.colRange(0, out.cols).copyTo(out);
    } else if (out.channels() == 2) {
      cv::dft(in, out, flags);
    } else {
      cv::dft(whole_spectrum(in, out.cols), out, flags | cv::DFT_REAL_OUTPUT);
    }
  }

 private:
  template <class M>
  static kernels::HalfSpectrum half_spectrum(const M& spectrum, Size image) {
    const bool flipped = image.width == 1;
    return {spectrum.template ptr<float>(), spectrum.step, flipped ? image.height : image.width,
            flipped ? 1 : image.height, flipped};
  }

  // The columns that a real image's spectrum need not have, from those it has.
  Mat whole_spectrum(const Mat& in, int width) const {
    Mat half(in.size(), CV_32FC2), whole(in.rows, width, CV_32FC2);
    kernels::symmetric_half_cpu(plane_of(in), half.ptr<float>(), width, by_rows);
    half.copyTo(whole.colRange(0, half.cols));
    for (int y = 0; y < in.rows; y++)
      for (int x = half.cols; x < width; x++) {
        const auto mirror = half.at<cv::Vec2f>(by_rows || y == 0 ? y : in.rows - y, width - x);
        whole.at<cv::Vec2f>(y, x) = {mirror[0], -mirror[1]};
      }
    return whole;
  }

  void draw(const GpuMat& in, GpuMat& out, GpuStream& stream) {
    // A column is transformed as a row, which it is in memory without gaps.
    const Size size = in.cols == 1 ? Size(in.rows, 1) : in.size();
    const GpuMat* spectrum = &target;
    if (size.width == 1) {
      cv::cuda::createContinuous(size, CV_32FC1, target);
      in.convertTo(target, CV_32F, stream);
      cv::cuda::createContinuous(size, CV_32FC2, source);
      as_complex(target, source, stream);
      spectrum = &source;
    } else {
      cv::cuda::createContinuous(in.size(), CV_32FC1, source);
      if (in.depth() == CV_32F)
        in.copyTo(source, stream);
      else
        in.convertTo(source, CV_32F, stream);
      plan_for(size, 0)->compute(source.reshape(0, size.height), target, stream);
    }
    cv::cuda::createContinuous(1, kernels::spectrum_partials, CV_32FC1, partial);
    kernels::spectrum_picture_gpu(half_spectrum(*spectrum, in.size()), plane_of(out), partial.ptr<float>(),
                                  queue_of(stream));
  }

  static void as_complex(const GpuMat& in, GpuMat& out, GpuStream& stream) {
    out.setTo(cv::Scalar::all(0), stream);
    GpuMat real_part = out.reshape(1).colRange(0, 1);
    in.copyTo(real_part, stream);
  }

  // cuFFT reads whole complex numbers, also of a real image.
  static bool fits(const GpuMat& m) { return m.isContinuous() && reinterpret_cast<std::uintptr_t>(m.data) % 8 == 0; }

  const GpuMat& without_gaps(const GpuMat& in, GpuStream& stream) {
    if (fits(in)) return in;
    cv::cuda::createContinuous(in.size(), in.type(), source);
    in.copyTo(source, stream);
    return source;
  }

  cv::cuda::DFT* plan_for(Size size, int flags) {
    return plan.get([&] { return cv::cuda::createDFT(size, flags); }, size.width, size.height, flags).get();
  }

  // Scales while it copies; OpenCV would scale by the whole image's size with DFT_ROWS, too.
  void transform(const GpuMat& from, GpuMat& out, Size size, GpuStream& stream) {
    const int flags = (inverse ? cv::DFT_INVERSE : 0) | (by_rows ? cv::DFT_ROWS : 0) |
                      (from.channels() == 2 ? cv::DFT_COMPLEX_INPUT : 0) |
                      (out.channels() == 1 ? cv::DFT_REAL_OUTPUT : 0);
    cv::cuda::DFT* dft = plan_for(size, flags);
    if (!scale && fits(out)) {
      dft->compute(from, out, stream);
      return;
    }
    dft->compute(from, target, stream);
    if (scale)
      target.convertTo(out, out.type(), 1. / (by_rows ? size.width : size.area()), stream);
    else
      target.copyTo(out, stream);
  }
};

}  // namespace

extern const Element dft =
    filter<Dft>("cudadft", "CUDA discrete Fourier transform")
        .formats(Dft::all_rows())
        .full_range_output()
        .moves_positions()
        .property("inverse", &Dft::inverse, "Inverse transform, of complex input")
        .property("rows", &Dft::by_rows, "Transform each row by itself")
        .property("scale", &Dft::scale, "Divide by the number of values that each result is a sum of")
        .property("complex-input", &Dft::complex_input, "Transform complex numbers (32FC2) forwards, too")
        .property("real-output", &Dft::real_output,
                  "With inverse=true: the real image (32FC1) of a half spectrum, as this element makes it")
        .property("odd-width", &Dft::odd_width,
                  "With real-output=true: the image is 2·w - 1 pixels wide, of a half spectrum w wide, and not 2·w - 2")
        .property("magnitude-spectrum", &Dft::magnitude_spectrum,
                  "Draw log(1 + |F|) of a gray image's transform F, frequency 0 in the centre")
        .doc("cv::cuda::createDFT",
             "Discrete Fourier transform. A real image, 32FC1, gives the left half of its spectrum, 32FC2 of width w/2 "
             "+ 1: the other half mirrors it. With inverse=true or complex-input=true 32FC2 gives 32FC2; with "
             "inverse=true real-output=true a half spectrum gives the image back. magnitude-spectrum=true draws a "
             "spectrum: GRAY8, black where there is nothing, white for the largest magnitude.",
             "videotestsrc ! cudadft magnitude-spectrum=true ! videoconvert ! autovideosink");

}  // namespace gstcv
