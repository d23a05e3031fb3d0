#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes docs/images/NAME-before.jpg and NAME-after.jpg of the elements from OpenCV's sample photographs, on the CPU, or
NAME-result.txt of those that only find something.

    meson devenv -C build $PWD/scripts/gallery.py SAMPLES [NAME...]

SAMPLES is the folder with fruits.jpg (opencv/samples/data), also in the pipelines below. Pictures are at most 320 pixels wide and 16 kB.
Afterwards `ninja -C build docs` puts new ones onto the pages and into docs/gallery.md.
"""
import os
import re
import subprocess
import sys

MAX_BYTES = 16_000
IMAGES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "docs", "images")

# A pipeline for each element: PHOTO and OTHER give a picture, JPEG takes one. Without JPEG its result is told.
AFTER = {
    "cudablendlinear": "PHOTO ! cudablendlinear name=b mode=ramp ! JPEG OTHER ! b.",
    "cudaboxfilter": "PHOTO ! cudaboxfilter ksize=13 ! JPEG",
    "cudacalchist": "PHOTO ! video/x-raw,format=GRAY8 ! cudacalchist draw=true ! JPEG",
    "cudacanny": "PHOTO ! cudacanny low-thresh=80 high-thresh=160 ! JPEG",
    "cudacvtcolor": "PHOTO ! cudacvtcolor ! video/x-raw,format=GRAY8 ! JPEG",
    "cudadft": "PHOTO ! video/x-raw,format=GRAY8 ! cudadft magnitude-spectrum=true ! JPEG",
    "cudadrawcolordisp": "PHOTO ! video/x-raw,format=GRAY8 ! cudadrawcolordisp ndisp=255 ! JPEG",
    "cudaequalizehist": "PHOTO ! cudaequalizehist ! JPEG",
    "cudaflip": "PHOTO ! cudaflip flip-code=horizontal ! JPEG",
    "cudagaussianfilter": "PHOTO ! cudagaussianfilter ksize=15 sigma1=4 ! JPEG",
    "cudamedianfilter": "PHOTO ! cudamedianfilter window-size=9 ! JPEG",
    "cudahoughcircles": "PHOTO ! video/x-raw,format=I420 ! cudahoughcircles votes-threshold=28 min-radius=15 max-radius=26 draw=true ! JPEG",
    "cudalaplacianfilter": "PHOTO ! video/x-raw,format=GRAY8 ! cudalaplacianfilter scale=3 ! JPEG",
    "cudalinearfilter": "PHOTO ! video/x-raw,format=BGRx ! cudalinearfilter preset=emboss ! JPEG",
    "cudamerge": "PHOTO ! video/x-raw,format=BGR ! cudasplit name=s "
    "s.src_0 ! queue ! m.sink_2 s.src_1 ! queue ! m.sink_1 s.src_2 ! queue ! m.sink_0 cudamerge name=m ! video/x-raw,format=BGR ! JPEG",
    "cudaminmax": "PHOTO ! video/x-raw,format=GRAY8 ! cudaminmax post-messages=true ! fakesink",
    "cudaminmaxloc": "PHOTO ! video/x-raw,format=GRAY8 ! cudaminmaxloc draw=true ! JPEG",
    "cudamorphologyfilter": "PHOTO ! cudamorphologyfilter op=gradient shape=ellipse ksize=5 ! JPEG",
    "cudaremap": "PHOTO ! cudaremap calibration-location=SAMPLES/left_intrinsics.yml ! JPEG",
    "cudaresize": "PHOTO ! cudaresize width=120 interpolation=area ! JPEG",
    "cudarotate": "PHOTO ! cudarotate angle=20 size=fit ! cudaresize width=320 interpolation=area ! JPEG",
    "cudasobelfilter": "PHOTO ! video/x-raw,format=GRAY8 ! cudasobelfilter dx=1 ! JPEG",
    "cudasplit": "PHOTO ! video/x-raw,format=BGR ! cudasplit name=s s.src_2 ! queue ! JPEG",
    "cudasum": "PHOTO ! video/x-raw,format=BGR ! cudasum post-messages=true ! fakesink",
    "cudatemplatematching": "PHOTO ! cudatemplatematching name=m draw=true ! JPEG PHOTO ! videocrop right=245 top=170 bottom=10 ! m.template",
    "cudathreshold": "PHOTO ! video/x-raw,format=GRAY8 ! cudathreshold otsu=true ! JPEG",
}
# Where fruits.jpg shows too little. The second picture gets the size of fruits.jpg.
PHOTOS = {"cudahoughcircles": "smarties.png", "cudadrawcolordisp": "aloeGT.png", "cudaequalizehist": "home.jpg", "cudacanny": "home.jpg", "cudaremap": "left01.jpg"}
OTHER = "baboon.jpg"


def launch(pipeline, samples, name, target, quality):
    def picture(file, size):
        return (
            f'filesrc location="{os.path.join(samples, file)}" ! decodebin ! videoconvertscale add-borders=false ! '
            f"video/x-raw,format=BGR,{size},pixel-aspect-ratio=1/1 ! videoconvert"
        )

    text = re.sub(r"\b(cuda[a-z]+)(?= )", r"\1 backend=cpu", pipeline)
    text = text.replace("PHOTO", picture(PHOTOS.get(name, "fruits.jpg"), "width=320")).replace("OTHER", picture(OTHER, "width=320,height=300"))
    text = text.replace("SAMPLES", samples)
    text = text.replace("JPEG", f'videoconvert ! video/x-raw,format=I420 ! jpegenc quality={quality} ! filesink location="{target}"')
    return subprocess.run(["gst-launch-1.0", "-m", *text.split()], check=True, timeout=60, stdout=subprocess.PIPE, text=True).stdout


def tell(pipeline, samples, name, target):
    """Fields of the element's message behind those that every result has: element, width, height."""
    message = re.search(rf"\(element\): {name}, (.*);", launch(pipeline, samples, name, "", 0))[1]
    fields = re.findall(r"([a-z0-9-]+)=\([a-z]+\)([^,;]+)", message)[3:]
    text = ", ".join(f"`{field}` {float(value):.10g}" for field, value in fields)
    with open(target, "w", encoding="utf-8") as file:
        file.write(text + "\n")
    print(f"{os.path.relpath(target)}: {text}")


def make(pipeline, samples, name, target):
    for quality in range(88, 20, -8):
        launch(pipeline, samples, name, target, quality)
        size = os.path.getsize(target)
        if 0 < size <= MAX_BYTES:
            print(f"{os.path.relpath(target)}: {size} bytes")
            return
    sys.exit(f"{target} cannot be made in {MAX_BYTES} bytes")


def main():
    if len(sys.argv) < 2 or not os.path.exists(os.path.join(sys.argv[1], "fruits.jpg")):
        sys.exit(__doc__)
    for name in sys.argv[2:] or AFTER:
        make("PHOTO ! JPEG", sys.argv[1], name, os.path.join(IMAGES, f"{name}-before.jpg"))
        if "JPEG" in AFTER[name]:
            make(AFTER[name], sys.argv[1], name, os.path.join(IMAGES, f"{name}-after.jpg"))
        else:
            tell(AFTER[name], sys.argv[1], name, os.path.join(IMAGES, f"{name}-result.txt"))


if __name__ == "__main__":
    main()
