// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kinds.hpp"
namespace gstcv {
GType combiner_type(const Element&) { return G_TYPE_INVALID; }
}  // namespace gstcv
