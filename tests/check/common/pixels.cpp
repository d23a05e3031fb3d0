// SPDX-License-Identifier: LGPL-2.1-or-later
// main() of the pixel tests: the tables that are linked with it.
#include "cases.hpp"

int main(int argc, char** argv) { return gstcv::check::run_tests(argc, argv, gstcv::check::pixel_tests); }
