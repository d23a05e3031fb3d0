// SPDX-License-Identifier: LGPL-2.1-or-later
// Filters whose formats follow from their settings.
#include <algorithm>
#include <atomic>
#include <opencv2/imgproc.hpp>
#include <thread>

#include "tests/check/common/rig.hpp"

namespace gstcv::check {
namespace {

const Element& element(const std::string& name) {
  const auto& all = all_elements();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Element* e) { return e->name == name; });
  require(found != all.end(), "no element " + name);
  return **found;
}

// Between a question about formats and the use of the answer the settings may be others.
void restless_settings() {
  Rig rig(element("cudacvtcolor"));
  std::atomic<bool> over = false;
  std::atomic<int> changes = 0;
  std::thread other([&] {
    for (; !over; changes++) gst_util_set_object_arg(G_OBJECT(rig.element()), "code", changes % 2 ? "bgr2hsv" : "auto");
  });
  int right = 0;
  bool all = rig.set_state(GST_STATE_PLAYING);
  for (unsigned i = 0; i < 3000 && all; i++) {
    rig.push({GST_VIDEO_FORMAT_BGR}, {16, 8}, i);
    const auto out = rig.pull();
    all = out.has_value();
    if (!all) break;
    const Picture in = random_picture(layout_of("BGR", 16, 8), i);
    cv::Mat want = in.planes[0];
    if ((*out)[0].layout.is_mat) cv::cvtColor(in.planes[0], want, cv::COLOR_BGR2HSV);
    right += cv::norm((*out)[0].planes[0], want, cv::NORM_INF) <= 1 ? 1 : 0;
  }
  over = true;
  other.join();
  const auto errors = rig.errors();
  require(errors.empty(), errors.empty() ? "" : errors[0]);
  require(all, "a frame did not come out");
  require(right == 3000, std::to_string(3000 - right) + " frames are not of the code that their caps say");
  require(changes > 100, "only " + std::to_string(changes) + " changes");
}

std::vector<Test> tests() { return {{"filter: settings that change all the time", restless_settings}}; }

}  // namespace
}  // namespace gstcv::check

int main(int argc, char** argv) { return gstcv::check::run_tests(argc, argv, gstcv::check::tests); }
