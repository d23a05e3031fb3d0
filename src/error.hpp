// SPDX-License-Identifier: LGPL-2.1-or-later
// Errors that end in one GST_ELEMENT_ERROR: thrown inside, caught at the border to GStreamer.
#pragma once

#include <gst/gst.h>

#include <stdexcept>
#include <string>

namespace gstcv {

// A failure with the GStreamer error domain and code it is reported under.
class Error : public std::runtime_error {
 public:
  Error(GQuark domain, int code, const std::string& message)
      : std::runtime_error(message), domain(domain), code(code) {}
  GQuark domain;
  int code;

  static Error settings(const std::string& m) { return {GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, m}; }
  static Error format(const std::string& m) { return {GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, m}; }
  static Error not_found(const std::string& m) { return {GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND, m}; }
  static Error no_memory(const std::string& m) { return {GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT, m}; }
  static Error failed(const std::string& m) { return {GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_FAILED, m}; }
};

// The exception now being handled (cv::Exception, CUDA, own, standard) as an Error. Call only in a catch block.
[[nodiscard]] Error current_error();

// A CUDA fault that poisons every context of the process, "" while there was none. Once set, no more CUDA calls are
// made.
[[nodiscard]] std::string gpu_lost();

#ifdef GSTCV_HAVE_CUDA
// Throws the Error for a failed CUDA runtime call (an int: cudaError_t), naming what was tried; clears the last error.
void cuda_check(int cuda_error, const char* what);
#endif

}  // namespace gstcv
