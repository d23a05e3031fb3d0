#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The library's C API from Python: results, and where a frame lies on the GPU (the CUDA array interface)."""
import sys

try:
    import gi

    gi.require_version("Gst", "1.0")
    from gi.repository import Gst
except (ImportError, ValueError) as e:
    print(f"skipped: {e}. Debian's packages: python3-gi gir1.2-gstreamer-1.0")
    sys.exit(77)
gi.require_version("GstOpenCvCuda", "1.0")
from gi.repository import GstOpenCvCuda  # noqa: E402


class GpuArray:
    """A plane of a gray frame on the GPU; cupy.asarray(GpuArray(...)) sees it without a copy."""

    def __init__(self, memory):
        ok, self.data, self.step, self.rows, self.cols, self.type = GstOpenCvCuda.gpu_mat_memory_get_plane(memory, 0)
        assert ok, "no plane"

    @property
    def __cuda_array_interface__(self):
        return {"version": 3, "shape": (self.rows, self.cols), "typestr": "|u1", "data": (self.data, True), "strides": (self.step, 1)}


Gst.init(None)
pipeline = Gst.parse_launch("videotestsrc num-buffers=1 ! cudathreshold otsu=true name=t ! appsink name=sink sync=false")
pipeline.set_state(Gst.State.PLAYING)
buffer = pipeline.get_by_name("sink").emit("pull-sample").get_buffer()

result = GstOpenCvCuda.buffer_get_opencv_cuda_result(buffer, "cudathreshold", "t")
ok, threshold = result.get_double("threshold")
print("threshold by Otsu's method:", threshold)
assert ok and 0 < threshold < 255
assert GstOpenCvCuda.buffer_get_opencv_cuda_result(buffer, "cudacalchist", None) is None

memory = buffer.peek_memory(0)
if hasattr(GstOpenCvCuda, "is_gpu_mat_memory") and GstOpenCvCuda.is_gpu_mat_memory(memory):
    ok, info = memory.map(Gst.MapFlags(Gst.MapFlags.READ | GstOpenCvCuda.MAP_GPU_MAT))
    assert ok, "cannot map the frame on the GPU"
    # For work of your own call gpu_mat_memory_wait() and gpu_mat_memory_record() around it, with your stream.
    plane = GpuArray(memory)
    print("on the GPU:", plane.__cuda_array_interface__)
    assert plane.data and plane.step >= plane.cols
    memory.unmap(info)
else:
    print("the frame is in system memory: no GPU here")
pipeline.set_state(Gst.State.NULL)
