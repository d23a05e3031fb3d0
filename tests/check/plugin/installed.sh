#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# installed.sh BUILD ELEMENTS : installs into a folder of its own and looks at the plugin there: all libraries are found,
# it registers just the elements of the source list, touches no device, and offers what is documented.
set -euo pipefail
build=$1 elements=$2
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
fail() { echo "FAIL: $*"; exit 1; }

DESTDIR=$temp/root meson install -C "$build" --no-rebuild --quiet
plugin=$(find "$temp/root" -name libgstopencvcuda.so)
library=$(find "$temp/root" -name 'libgstopencvcuda-1.0.so.0.*')
[[ -f $plugin && -f $library ]] || fail "plugin or library is not installed"
find "$temp/root" -name gstreamer-opencv-cuda-1.0.pc | grep -q . || fail "no pkg-config file"
find "$temp/root" -path '*/gst/opencvcuda/result.h' | grep -q . || fail "no headers"

# Where the plugin looks for OpenCV and for the library: only our own moved, with the folder it was installed to.
own=$(dirname "$library")
ldd=$(LD_LIBRARY_PATH=$own ldd "$plugin" "$library")
if grep 'not found' <<< "$ldd"; then fail "libraries are missing"; fi
grep -q "libgstopencvcuda-1.0.so.0 => $own" <<< "$ldd" || fail "the plugin uses another library than the installed one"
# The driver's library must not be linked: the plugin loads where there is none.
if grep 'libcuda\.so' <<< "$ldd"; then fail "linked with the driver"; fi

inspect() {
  LD_LIBRARY_PATH=$own GST_PLUGIN_PATH= GST_PLUGIN_SYSTEM_PATH=$(dirname "$plugin") GST_REGISTRY=$temp/registry.bin \
    GST_REGISTRY_FORK=no "$@"
}
inspect gst-inspect-1.0 opencvcuda > "$temp/out" 2>&1 || { cat "$temp/out"; fail "gst-inspect-1.0 cannot load it"; }
got=$(sed -n 's/^  \(cuda[a-z0-9]*\): .*/\1/p' "$temp/out" | sort)
wanted=$(tr ' ' '\n' <<< "$elements" | sed '/^$/d; s/^/cuda/' | sort)
[[ $got == "$wanted" ]] || { diff <(echo "$wanted") <(echo "$got") || true; fail "elements (>) are not the source files (<)"; }

# Registration and gst-inspect-1.0 make no CUDA call: a device that cannot be reached goes unnoticed.
if command -v strace > /dev/null; then
  inspect strace -f -e trace=openat,open gst-inspect-1.0 opencvcuda 2> "$temp/trace" > /dev/null || true
  if grep -E '/dev/nvidia|libcuda\.so' "$temp/trace"; then fail "registration touches the device"; fi
fi
for element in $got; do
  inspect gst-inspect-1.0 "$element" > "$temp/one" 2>&1 || { cat "$temp/one"; fail "$element"; }
  grep -q "cv::" "$temp/one" || fail "$element does not name its OpenCV function"
  grep -q backend "$temp/one" || fail "$element has no backend property"
done
echo "$(wc -w <<< "$got") elements"
