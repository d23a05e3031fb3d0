// SPDX-License-Identifier: LGPL-2.1-or-later
// What the framework asks of an operation's struct, and how it is called. Operations never see GStreamer.
#pragma once

#include <any>
#include <array>
#include <opencv2/core.hpp>
#include <opencv2/core/cuda.hpp>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "result.hpp"
#include "src/layout.hpp"

namespace gstcv {

using cv::Mat;
using cv::Ptr;
using cv::Size;
using cv::cuda::GpuMat;
using GpuStream = cv::cuda::Stream;

// One frame: its planes as mats (one for packed formats) and what the caps say.
template <class M>
struct Image {
  std::array<M, 4> planes;
  Layout layout;
};

// All that one call works on: first the numbered pads (as many as the element can have), then its extra pads in the
// order of their declaration. What is not there, an optional input or an output that nobody takes, has empty planes.
template <class M>
struct Frames {
  std::vector<Image<M>> in, out;
};

// Small mats that an analysing operation gives instead of an image; the GPU's are downloaded by the framework.
template <class M>
using Values = std::array<M, 3>;

// A matrix property as a part of a Memo's key: each setting makes a new one, which the key keeps alive.
struct MatKey {
  Mat mat;
  [[nodiscard]] bool operator==(const MatKey& o) const { return mat.data == o.mat.data; }
};

// Keeps what make() returned until the key changes: for OpenCV's algorithm objects, which are dear to make.
template <class T>
class Memo {
 public:
  template <class Make, class... Key>
  T& get(Make make, const Key&... key) {
    const auto now = std::make_tuple(part(key)...);
    const auto* before = std::any_cast<std::decay_t<decltype(now)>>(&key_);
    if (!before || *before != now) {
      value_ = make();
      key_ = now;
    }
    return value_;
  }

 private:
  template <class Key>
  static const Key& part(const Key& key) {
    return key;
  }
  static MatKey part(const Mat& key) { return {key}; }

  std::any key_;
  T value_{};
};

// An operation behind a uniform interface; OperationOf<Op> below adapts a plain struct.
class Operation {
 public:
  virtual ~Operation() = default;
  [[nodiscard]] virtual void* settings() = 0;
  virtual void gpu(Frames<GpuMat>& frames, Values<GpuMat>& values, GpuStream& stream) = 0;
  virtual void cpu(Frames<Mat>& frames, Values<Mat>& values) = 0;
  virtual void result(const Values<Mat>& values, Result& result) = 0;
  virtual void draw(const Result& result, Image<Mat>& image) = 0;
  // Why the settings cannot work on this input; "" when they can. Asked before each frame whose settings are new.
  [[nodiscard]] virtual std::string check(const Layout& input) = 0;
  // Do the settings leave an image of this input as it is?
  [[nodiscard]] virtual bool identity(const Layout& input, const Layout& output) = 0;
};

// A struct Op may have, all optional but one of gpu/cpu:
//   void gpu(const GpuMat& in, GpuMat& out, GpuStream&)          filter on single-plane images; cpu likewise with Mat
//   void gpu(const Image<GpuMat>& in, Image<GpuMat>& out, …)     filter on all planes
//   void gpu(const GpuMat& in, Values<GpuMat>&, GpuStream&)      analyzer
//   void gpu(Frames<GpuMat>&, [Values<GpuMat>&,] GpuStream&)     combiner, divider, or anything
//   void result(const Values<Mat>&, Result&) const               what an analyzer found
//   void draw(const Result&, Mat& image) const                   paints it
//   std::string check(const Layout&) const                       rules between settings, or with the input
//   bool identity(…) const                                       settings that change nothing
//   Size output_size(Size) const                                 for outputs of another size; empty: as downstream asks
//   Size output_size(const std::vector<Size>&) const             combiner; the sizes of all inputs, in Frames' order
//   std::vector<FormatRow> rows() const                          for formats that depend on settings
//   bool passes() const                                          combiner; whether its output is the first input
template <class Op>
class OperationOf final : public Operation {
 public:
  void* settings() override { return &op_; }

  void gpu([[maybe_unused]] Frames<GpuMat>& f, [[maybe_unused]] Values<GpuMat>& v,
           [[maybe_unused]] GpuStream& s) override {
#ifdef GSTCV_HAVE_CUDA  // without it nothing of the operation's GPU path is compiled into the plugin
    if constexpr (requires { op_.gpu(f.in[0].planes[0], f.out[0].planes[0], s); })
      op_.gpu(std::as_const(f.in[0].planes[0]), f.out[0].planes[0], s);
    else if constexpr (requires { op_.gpu(f.in[0], f.out[0], s); })
      op_.gpu(std::as_const(f.in[0]), f.out[0], s);
    else if constexpr (requires { op_.gpu(f.in[0].planes[0], v, s); })
      op_.gpu(std::as_const(f.in[0].planes[0]), v, s);
    else if constexpr (requires { op_.gpu(f, v, s); })
      op_.gpu(f, v, s);
    else if constexpr (requires { op_.gpu(f, s); })
      op_.gpu(f, s);
    else
#endif
      throw std::logic_error("no GPU path");
  }

  void cpu(Frames<Mat>& f, [[maybe_unused]] Values<Mat>& v) override {
    if constexpr (requires { op_.cpu(f.in[0].planes[0], f.out[0].planes[0]); })
      op_.cpu(std::as_const(f.in[0].planes[0]), f.out[0].planes[0]);
    else if constexpr (requires { op_.cpu(f.in[0], f.out[0]); })
      op_.cpu(std::as_const(f.in[0]), f.out[0]);
    else if constexpr (requires { op_.cpu(f.in[0].planes[0], v); })
      op_.cpu(std::as_const(f.in[0].planes[0]), v);
    else if constexpr (requires { op_.cpu(f, v); })
      op_.cpu(f, v);
    else if constexpr (requires { op_.cpu(f); })
      op_.cpu(f);
    else
      throw std::logic_error("no CPU path");
  }

  void result([[maybe_unused]] const Values<Mat>& v, [[maybe_unused]] Result& r) override {
    if constexpr (requires { op_.result(v, r); }) op_.result(v, r);
  }
  void draw([[maybe_unused]] const Result& r, [[maybe_unused]] Image<Mat>& image) override {
    if constexpr (requires { op_.draw(r, image.planes[0]); }) op_.draw(r, image.planes[0]);
  }
  std::string check([[maybe_unused]] const Layout& in) override {
    if constexpr (requires { op_.check(in); })
      return op_.check(in);
    else
      return {};
  }
  bool identity([[maybe_unused]] const Layout& in, [[maybe_unused]] const Layout& out) override {
    if constexpr (requires { op_.identity(in, out); })
      return op_.identity(in, out);
    else
      return false;
  }

 private:
  Op op_;
};

}  // namespace gstcv
