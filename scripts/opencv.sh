#!/usr/bin/env bash
# Finds OpenCV with its CUDA modules, or builds it once into the cache.
# The last line on standard output is the folder of its pkg-config files ("-" for the system's own).
#
#   scripts/opencv.sh cuda|stubs
#
# cuda   compiles the CUDA modules (needs nvcc; no GPU needed to build)
# stubs  the same headers and libraries, whose CUDA functions throw: elements run on the CPU only
#
# CUDA_ARCH=8.6,9.0  compute capabilities to build for (default: those of the GPUs found, else 9.0)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/gst-opencv-cuda
mode=${1:?usage: opencv.sh cuda|stubs}
say() { printf 'opencv: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

# An installed OpenCV serves when it is new enough and, for cuda, was built with CUDA (a cudev library
# is only made then).
if pkg-config --exists 'opencv4 >= 4.10' && pkg-config --libs opencv4 | grep -q opencv_cudaarithm; then
  libdir=$(pkg-config --variable=libdir opencv4)
  if [ "$mode" = stubs ] || [ -e "$libdir/libopencv_cudev.so" ]; then
    say "using the installed OpenCV $(pkg-config --modversion opencv4)"
    echo -
    exit 0
  fi
fi

# All that decides what the build is; its hash names the folder.
modules=core,imgproc,imgcodecs,video,calib3d,features2d,flann,objdetect,photo,ximgproc,optflow,bgsegm
modules+=,cudaarithm,cudafilters,cudaimgproc,cudawarping,cudabgsegm,cudaobjdetect,cudaoptflow,cudastereo,cudafeatures2d
options=(
  -DCMAKE_BUILD_TYPE=Release -DCPU_DISPATCH=AVX2
  -DWITH_IPP=OFF -DWITH_OPENCL=OFF -DWITH_PROTOBUF=OFF -DWITH_ADE=OFF -DWITH_QUIRC=OFF -DWITH_FFMPEG=OFF
  -DWITH_GSTREAMER=OFF -DWITH_V4L=OFF -DWITH_GTK=OFF -DWITH_LAPACK=OFF -DWITH_EIGEN=OFF -DWITH_VTK=OFF
  -DWITH_TIFF=OFF -DWITH_WEBP=OFF -DWITH_OPENEXR=OFF -DWITH_OPENJPEG=OFF -DWITH_JASPER=OFF -DWITH_ITT=OFF
  -DBUILD_TESTS=OFF -DBUILD_PERF_TESTS=OFF -DBUILD_EXAMPLES=OFF -DBUILD_opencv_apps=OFF -DBUILD_JAVA=OFF
  -DBUILD_opencv_python3=OFF -DOPENCV_GENERATE_PKGCONFIG=ON
)
case $mode in
  cuda)
    nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null) ||
      die "no nvcc: install the CUDA toolkit (https://developer.nvidia.com/cuda-downloads), or use the CPU build"
    toolkit=$("$nvcc" --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')
    # Without a working driver nvidia-smi writes its complaint where the answer would be.
    arch=${CUDA_ARCH:-$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null |
      grep -xE '[0-9]+\.[0-9]+' | sort -u | paste -sd, || true)}
    arch=${arch:-9.0}
    modules+=,cudev,cudalegacy
    options+=(-DWITH_CUDA=ON "-DCUDA_ARCH_BIN=$arch" -DCUDA_ARCH_PTX= -DENABLE_CUDA_FIRST_CLASS_LANGUAGE=ON
              "-DCMAKE_CUDA_COMPILER=$nvcc" -DWITH_CUDNN=OFF -DOPENCV_DNN_CUDA=OFF -DWITH_NVCUVID=OFF -DWITH_NVCUVENC=OFF)
    key_extra="cuda $toolkit"
    ;;
  stubs)
    options+=(-DWITH_CUDA=OFF -DBUILD_CUDA_STUBS=ON)
    key_extra=stubs
    ;;
  *) die "usage: opencv.sh cuda|stubs" ;;
esac
pin=$(grep -v '^#' "$here/opencv-source.txt")
version=$(sed 's/.*==\([0-9.]*\).*/\1/' <<< "$pin")
key=$(printf '%s\n' "$pin" "$key_extra" "$modules" "${options[@]}" "$(g++ -dumpfullversion)" | sha256sum | cut -c1-12)
prefix=$cache/opencv-$version-$mode-$key
if [ -e "$prefix/lib/pkgconfig/opencv4.pc" ]; then
  echo "$prefix/lib/pkgconfig"
  exit 0
fi

mkdir -p "$cache"
exec 9> "$cache/lock"
flock -n 9 || { say "another build is running; waiting for it"; flock 9; }
if [ -e "$prefix/lib/pkgconfig/opencv4.pc" ]; then
  echo "$prefix/lib/pkgconfig"
  exit 0
fi

# A virtual environment of our own: the system's Python stays as it is.
pip() {
  [ -x "$cache/venv/bin/pip" ] || python3 -m venv "$cache/venv" >&2
  "$cache/venv/bin/pip" --disable-pip-version-check "$@" >&2
}
# download REQUIREMENTS_FILE PIP_OPTION... : the package into $cache/download, refused when its hash differs
download() {
  rm -rf "$cache/download" && mkdir -p "$cache/download"
  pip download --quiet --no-deps --require-hashes -r "$1" -d "$cache/download" "${@:2}" ||
    die "download failed or does not match its pinned hash ($1); check the network and run again"
}

npp=
if [ "$mode" = cuda ] && ! [ -e "$(dirname "$nvcc")/../include/nppcore.h" ]; then
  [ -e "$here/npp-$toolkit.txt" ] ||
    die "CUDA $toolkit is here without NPP: install the toolkit's NPP package (libnpp-dev-${toolkit/./-}), or use CUDA 13.0"
  npp=$cache/npp-$toolkit
  if ! [ -d "$npp" ]; then
    say "downloading NPP for CUDA $toolkit (130 MB)"
    download "$here/npp-$toolkit.txt"
    rm -rf "$npp.part" && mkdir "$npp.part"
    python3 -m zipfile -e "$cache"/download/nvidia_npp-*.whl "$npp.part"
    # The linker and CMake look for names without a version.
    for lib in "$npp.part"/nvidia/cu*/lib/*.so.*; do ln -s "$(basename "$lib")" "${lib%.so.*}.so"; done
    mv "$npp.part"/nvidia/cu* "$npp" && rm -rf "$npp.part"
  fi
  options+=("-DCMAKE_LIBRARY_PATH=$npp/lib" "-DCMAKE_INCLUDE_PATH=$npp/include")
  export CPATH=$npp/include${CPATH:+:$CPATH}
fi

src=$cache/src-$version
if ! [ -d "$src" ]; then
  say "downloading the source of OpenCV $version (150 MB)"
  download "$here/opencv-source.txt" --no-binary opencv-contrib-python-headless
  rm -rf "$src.part" && mkdir "$src.part"
  tar -xzf "$cache"/download/opencv*.tar.gz -C "$src.part" --strip-components=1
  mv "$src.part" "$src"
fi

launchers=()
if command -v ccache > /dev/null; then
  for l in C CXX CUDA; do launchers+=("-DCMAKE_${l}_COMPILER_LAUNCHER=ccache"); done
fi
build=$cache/build-$mode-$key
minutes=$([ "$mode" = cuda ] && echo 90 || echo 25)
say "building OpenCV $version ($mode) once, about $minutes core-minutes; safe to interrupt and repeat. Log: $build.log"
cmake -G Ninja -S "$src/opencv" -B "$build" "-DCMAKE_INSTALL_PREFIX=$prefix" '-DCMAKE_INSTALL_RPATH=$ORIGIN' \
  "-DOPENCV_EXTRA_MODULES_PATH=$src/opencv_contrib/modules" "-DBUILD_LIST=$modules" \
  "${options[@]}" "${launchers[@]}" > "$build.log" 2>&1 || { tail -n 20 "$build.log" >&2; die "cmake failed; see $build.log"; }
# One line of progress a minute, or a live one on a terminal. (Not awk: Debian's reads a pipe in blocks, so late.)
progress() {
  local line next=0
  while IFS= read -r line; do
    if [ -t 2 ]; then
      printf '\ropencv: %.100s\033[K' "$line" >&2
    elif ((SECONDS >= next)); then
      say "$line"
      next=$((SECONDS + 60))
    fi
  done
  if [ -t 2 ]; then echo >&2; fi
}
NINJA_STATUS='[%f/%t, %es] ' ninja -C "$build" ${JOBS:+-j "$JOBS"} 2>&1 | tee -a "$build.log" | progress ||
  { tail -n 30 "$build.log" >&2; die "the build failed; see $build.log"; }
rm -rf "$prefix.part"
cmake --install "$build" --prefix "$prefix.part" --strip >> "$build.log"
if [ -n "$npp" ]; then ln -s "$npp"/lib/libnpp*.so.* "$prefix.part/lib/"; fi
cp -r "$src/opencv/samples/data" "$prefix.part/samples"
mv "$prefix.part" "$prefix"
rm -rf "$build"
say "built $prefix"
echo "$prefix/lib/pkgconfig"
