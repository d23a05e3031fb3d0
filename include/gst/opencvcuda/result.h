/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:result
 * @short_description: what elements found in a frame
 *
 * Results that are not images (a histogram, extrema, a threshold) travel with the buffer as a #GstCustomMeta named
 * after the kind of element, such as `cudacalchist`. Its structure has one field for each element of that kind that
 * the buffer passed, named as the element in the pipeline, holding a #GstStructure: `element`, `width` and `height`
 * (of the frame it was found in), and the values that the element's page lists. Bulk data is a #GBytes with
 * `NAME-type` (an OpenCV type such as 32SC1), `NAME-rows` and `NAME-cols` beside it.
 */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

#ifndef GST_OPENCV_CUDA_API
#define GST_OPENCV_CUDA_API __attribute__((visibility("default")))
#endif

/**
 * gst_buffer_get_opencv_cuda_result:
 * @buffer: a buffer
 * @kind: the kind of element, such as "cudacalchist"
 * @element: (nullable): the element's name in the pipeline; %NULL for the last one of that kind
 *
 * Returns: (transfer none) (nullable): what it found; valid while the buffer is.
 */
GST_OPENCV_CUDA_API const GstStructure* gst_buffer_get_opencv_cuda_result(GstBuffer* buffer, const gchar* kind,
                                                                          const gchar* element);

G_END_DECLS
