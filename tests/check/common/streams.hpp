// SPDX-License-Identifier: LGPL-2.1-or-later
// An element with several inputs or outputs in a running pipeline that the test feeds and empties.
#pragma once

#include <map>

#include "harness.hpp"

namespace gstcv::check {

class Streams {
 public:
  // Pads by their names, with the format or mat type that an output takes after a colon ("src:BGR"). Settings as in a
  // launch line.
  Streams(const std::string& element, const std::string& settings, const std::vector<std::string>& inputs,
          const std::vector<std::string>& outputs = {"src"});
  ~Streams();
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  [[nodiscard]] GstElement* element() const { return element_; }
  // Times are in milliseconds; a negative one stays unset.
  void push(const std::string& pad, const Picture& picture, int start = 0, int duration = 40,
            Storage storage = Storage::plain);
  void end(const std::string& pad);
  // An output linked while the pipeline plays.
  void add_output(const std::string& pad);
  // The next frame; a null one at the end of the stream. Fails when none comes, or the pipeline posted an error.
  [[nodiscard]] Ref<GstBuffer> pull(const std::string& pad = "src");
  [[nodiscard]] Picture picture(GstBuffer* buffer, const std::string& pad = "src");
  // Is there no frame for a while?
  [[nodiscard]] bool quiet(const std::string& pad = "src");
  // Waits for the element's error and gives its text.
  [[nodiscard]] std::string error();

 private:
  [[nodiscard]] std::string problems();
  GstElement *pipeline_, *element_;
  GstBus* bus_;
  std::map<std::string, GstElement*> sources_, sinks_;
  std::map<std::string, Layout> layouts_;
};

// Kinds of memory that such a frame can be pushed in, here.
[[nodiscard]] std::vector<Storage> storages(const Layout& layout);

// Plays frames of each format, in several sizes and each kind of memory, through an analyzer with a pad "mask": without
// a mask, with one of about half of the pixels, and with one of none. `check` gets the output frame, the image's first
// plane, the mask (empty without one) and words for a failure. The frame itself has to come out as it went in. Does
// nothing on the simulated device, which gives no results.
void analyze_masked(
    const std::string& element, const std::vector<std::string>& formats,
    const std::function<void(GstBuffer*, const cv::Mat& image, const cv::Mat& mask, const std::string& what)>& check);

// The result that an element attached; fails when there is none.
[[nodiscard]] const GstStructure* result_of(GstBuffer* buffer, const std::string& kind);
[[nodiscard]] int integer(const GstStructure* result, const char* field);
[[nodiscard]] double number(const GstStructure* result, const char* field);

}  // namespace gstcv::check
