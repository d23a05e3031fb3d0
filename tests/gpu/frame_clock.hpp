// SPDX-License-Identifier: LGPL-2.1-or-later
// When frames reach a pad, on the clock of CUPTI's records.
#pragma once

#include <cstdio>
#include <mutex>

#include "cupti_recorder.hpp"
#include "line.hpp"

namespace gstcv::check {

class FrameClock {
 public:
  // Of the sink pad of the element with this name.
  FrameClock(const Line& line, const std::string& element) : pad_(gst_element_get_static_pad(line[element], "sink")) {
    probe_ = gst_pad_add_probe(
        pad_, GST_PAD_PROBE_TYPE_BUFFER,
        [](GstPad*, GstPadProbeInfo*, gpointer self) {
          static_cast<FrameClock*>(self)->tick();
          return GST_PAD_PROBE_OK;
        },
        this, nullptr);
  }
  ~FrameClock() { gst_pad_remove_probe(pad_, probe_); }
  FrameClock(const FrameClock&) = delete;
  FrameClock& operator=(const FrameClock&) = delete;

  [[nodiscard]] long frames() const {
    const std::lock_guard guard(lock_);
    return static_cast<long>(times_.size());
  }
  // When that frame came, counted from 0.
  [[nodiscard]] std::uint64_t time(long frame) const {
    const std::lock_guard guard(lock_);
    require(frame >= 0 && frame < static_cast<long>(times_.size()),
            "only " + std::to_string(times_.size()) + " frames came");
    return times_[static_cast<std::size_t>(frame)];
  }

 private:
  void tick() {
    const std::lock_guard guard(lock_);
    times_.push_back(CuptiRecorder::now());
  }
  mutable std::mutex lock_;
  std::vector<std::uint64_t> times_;
  Ref<GstPad> pad_;
  gulong probe_;
};

inline void show(const std::string& what, long frames, const Activity& a) {
  std::printf("  %s, %ld frames: %s\n", what.c_str(), frames, a.text().c_str());
}

}  // namespace gstcv::check
