// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kinds.hpp"
namespace gstcv {
GType divider_type(const Element&) { return G_TYPE_INVALID; }
}  // namespace gstcv
