#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The demo: the edges of a video, as a video and as a still picture.
#
#   scripts/demo.sh FILE FOLDER      (the plugin must be found: meson devenv -C build, or installed)
#
# With a GPU the video is first copied to H.264, once, which the GPU can decode; from then on frames stay there.
set -euo pipefail
file=${1:?usage: demo.sh FILE FOLDER} out=${2:?usage: demo.sh FILE FOLDER}
max_width=640
log=$out/gst-launch.log
say() { printf 'demo: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }
has() { gst-inspect-1.0 "$1" > /dev/null 2>&1; }  # --exists also asks for a version of 1.x or more

[[ -r $file ]] || die "cannot read $file"
mkdir -p "$out"
for element in cudagaussianfilter cudacanny; do
  has "$element" || die "no element $element: run this through ./dev demo, or in: meson devenv -C build"
done
while read -r element package; do
  has "$element" || die "no element $element; Debian's package $package has it"
done << 'LIST'
decodebin gstreamer1.0-plugins-base
videoconvertscale gstreamer1.0-plugins-base
rawvideoparse gstreamer1.0-plugins-bad
pngenc gstreamer1.0-plugins-good
multifilesink gstreamer1.0-plugins-good
LIST

explain() {
  grep -E '^(ERROR|WARNING|Additional)|\.c\([0-9]+\)|issing' "$log" | tail -n 20 >&2 || true
  die "the pipeline failed; all it said is in $log. (When a decoder is missing: gstreamer1.0-libav has most.)"
}
# launch ARG... : gst-launch-1.0 with its words in the log, shown in part when it fails
launch() { gst-launch-1.0 -v "$@" > "$log" 2>&1 || explain; }

# probe FILE : caps of its first video frame
probe() {
  launch filesrc location="$1" ! decodebin ! 'video/x-raw(ANY)' ! identity name=probe eos-after=1 ! fakesink sync=false
  caps=$(sed -n 's/.*GstIdentity:probe.GstPad:src: caps = //p' "$log" | tail -n 1)
  [[ $caps ]] || die "no video frame in $1"
}

say "reading $file"
probe "$file"
field() { sed -nE "s|.* $1=\(\w+\)([0-9]+(/[0-9]+)?).*|\1|p" <<< "$caps"; }
width=$(field width) height=$(field height) par=$(field pixel-aspect-ratio)
par=${par:-1/1}
# Square pixels, the shape of the picture kept; rows of a multiple of four bytes, so that raw frames have no padding.
w=$(((width < max_width ? width : max_width) / 4 * 4))
((w >= 16)) || die "a video $width pixels wide is too small"
h=$(((w * height * ${par#*/} / (width * ${par%/*}) + 1) / 2 * 2))
((h >= 2)) || die "a video of $width x $height is too flat"

# The backend is set, so that the last line says what is true: without a GPU, cuda is an error.
backend=cpu device=CPU
if [[ $(nvidia-smi -L 2> /dev/null) == "GPU "* && $(gst-inspect-1.0 cudacanny) == *memory:GpuMat* ]]; then
  backend=cuda
  device=$(nvidia-smi --query-gpu=name --format=csv,noheader --id=0)
fi

decode=(filesrc location="$file" ! decodebin ! videoconvertscale)
if [[ $backend = cuda ]] && has nvh264dec && has h264parse && has qtdemux && has mp4mux && has x264enc; then
  copy=$out/h264-$(stat -c '%n %s %Y' "$file" | cksum | cut -d' ' -f1).mp4
  if ! [[ -e $copy ]]; then
    say "copying to H.264 for the GPU's decoder, once"
    launch filesrc location="$file" ! decodebin ! videoconvertscale ! video/x-raw,format=I420 ! x264enc ! h264parse ! \
      mp4mux ! filesink location="$copy.part"
    mv "$copy.part" "$copy"
  fi
  decode=(filesrc location="$copy" ! qtdemux ! h264parse ! nvh264dec)
elif [[ $backend = cuda ]]; then
  say "decoding on the CPU: nvh264dec, or what makes its input (x264enc, mp4mux, h264parse), is missing"
fi

gray=format=GRAY8,width=$w,height=$h,pixel-aspect-ratio=1/1
if has cudacvtcolor && has cudaresize; then
  size=(cudacvtcolor "backend=$backend" ! cudaresize "backend=$backend" ! "video/x-raw(ANY),$gray")
else
  size=(videoconvertscale ! "video/x-raw,$gray")
fi
edges=("${size[@]}" ! cudagaussianfilter "backend=$backend" ! cudacanny "backend=$backend")

if has x264enc && has mp4mux; then
  video=$out/edges.mp4 encode=(x264enc speed-preset=veryfast ! mp4mux)
elif has jpegenc && has avimux; then
  video=$out/edges.avi encode=(jpegenc ! avimux)
else
  die "no encoder: install gstreamer1.0-plugins-ugly (x264enc) and gstreamer1.0-plugins-good (mp4mux)"
fi

# --- the video: one line of the log is one frame that left cudacanny ---------------------------------------
count_frames() { grep -c 'GstIdentity:frames: last-message = chain' "$log" || true; }
say "finding edges at $w x $h on $device"
rm -f "$out"/edges.{mp4,avi,png}
gst-launch-1.0 -v "${decode[@]}" ! "${edges[@]}" ! identity name=frames silent=false ! \
  video/x-raw,format=GRAY8 ! videoconvertscale ! video/x-raw,format=I420 ! "${encode[@]}" ! filesink location="$video.part" > "$log" 2>&1 &
pipeline=$!
trap 'kill "$pipeline" 2> /dev/null || true' EXIT
next=5
while kill -0 "$pipeline" 2> /dev/null; do
  sleep 0.2
  if ((SECONDS >= next)); then
    say "$(count_frames) frames"
    next=$((SECONDS + 5))
  fi
done
wait "$pipeline" || explain
trap - EXIT
frames=$(count_frames)
seconds=$(sed -nE 's/^Execution ended after ([0-9]+):([0-9]+):([0-9.]+)$/\1 \2 \3/p' "$log" |
  awk '{ printf "%.3f", $1 * 3600 + $2 * 60 + $3 }')
((frames > 0)) || die "no frame came out; see $log"
probe "$video.part"
mv "$video.part" "$video"

# --- the stills: the frame in the middle, before and after --------------------------------------------------
# still NAME FORMAT STAGE... : runs to the middle, keeps the last raw frame, and makes a PNG of it
# (Frames are written raw because a PNG of each would take far longer.)
still() {
  local name=$1 format=$2 raw
  rm -f "$out/.$name".*
  launch "${@:3}" ! identity eos-after=$(((frames + 1) / 2)) ! multifilesink location="$out/.$name.%d" max-files=1
  raw=$(echo "$out/.$name".*)
  launch filesrc location="$raw" blocksize=$((1 << 30)) ! rawvideoparse format="${format,,}" width="$w" height="$h" ! pngenc ! \
    filesink location="$out/$name.png"
  rm -f "$raw"
}
still input RGB filesrc location="$file" ! decodebin ! videoconvertscale ! "video/x-raw,format=RGB,width=$w,height=$h,pixel-aspect-ratio=1/1"
still edges GRAY8 "${decode[@]}" ! "${edges[@]}" ! "video/x-raw,format=GRAY8"
rm -f "$log"

say "wrote $video, $out/edges.png and $out/input.png"
printf '%s frames, %s frames per second, %s\n' "$frames" \
  "$(awk -v n="$frames" -v s="$seconds" 'BEGIN { printf "%.1f", n / s }')" "$device"
