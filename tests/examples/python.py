#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""An application in Python: edges as a numpy array, and a result. Runs on the GPU where there is one, else on the CPU."""
import sys

try:
    import gi
    import numpy as np

    gi.require_version("Gst", "1.0")
    gi.require_version("GstVideo", "1.0")
    from gi.repository import Gst, GstVideo
except (ImportError, ValueError) as e:
    print(f"skipped: {e}. Debian's packages: python3-gi python3-numpy gir1.2-gst-plugins-base-1.0")
    sys.exit(77)


def frames(line):
    """Runs a pipeline that ends in `appsink name=sink`; gives its samples."""
    pipeline = Gst.parse_launch(line)
    sink = pipeline.get_by_name("sink")
    pipeline.set_state(Gst.State.PLAYING)
    try:
        while sample := sink.emit("pull-sample"):
            yield sample
    finally:
        error = pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
        pipeline.set_state(Gst.State.NULL)
        if error:
            raise error.parse_error()[0]


def gray_array(sample):
    """The pixels of a GRAY8 sample, rows x columns, copied."""
    buffer, caps = sample.get_buffer(), sample.get_caps().get_structure(0)
    rows, cols = caps.get_value("height"), caps.get_value("width")
    meta = GstVideo.buffer_get_video_meta(buffer)
    step = meta.stride[0] if meta else (cols + 3) // 4 * 4
    ok, info = buffer.map(Gst.MapFlags.READ)
    assert ok, "cannot map the frame"
    try:
        return np.ndarray((rows, cols), np.uint8, info.data, strides=(step, 1)).copy()
    finally:
        buffer.unmap(info)


Gst.init(None)

for sample in frames(
    "videotestsrc num-buffers=3 pattern=ball ! cudaresize width=200 ! cudacanny ! "
    "video/x-raw,format=GRAY8 ! appsink name=sink sync=false"
):
    edges = gray_array(sample)
    print(f"{edges.shape[1]}x{edges.shape[0]}: {np.count_nonzero(edges)} edge pixels")
    assert set(np.unique(edges)) == {0, 255}

found = []
for sample in frames("videotestsrc num-buffers=3 pattern=ball ! cudathreshold otsu=true name=t ! appsink name=sink sync=false"):
    results = sample.get_buffer().get_custom_meta("cudathreshold").get_structure()  # kept: the next line looks into it
    found.append(results.get_value("t").get_value("threshold"))
print("thresholds by Otsu's method:", found)
assert len(found) == 3 and all(0 < t < 255 for t in found)
