// SPDX-License-Identifier: LGPL-2.1-or-later
// What stands for pixels outside of an image.
#pragma once

#include "plane.hpp"
#include "rounding.hpp"

namespace gstcv::kernels {

// The source pixel that stands for pixel i of size; -1 for none, which is the border's value.
GSTCV_HOST_DEVICE int border_index(int i, int size, Border border) {
  if (i >= 0 && i < size) return i;
  if (border == Border::constant) return -1;
  if (border == Border::replicate || size == 1) return i < 0 ? 0 : size - 1;
  const int period = border == Border::wrap ? size : border == Border::reflect ? 2 * size : 2 * size - 2;
  i %= period;
  if (i < 0) i += period;
  return i < size ? i : (border == Border::reflect ? 2 * size - 1 : 2 * size - 2) - i;
}

}  // namespace gstcv::kernels
