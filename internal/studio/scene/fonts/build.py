#!/usr/bin/env python3
"""Makes the font files of this folder. A developer's tool: they are checked in.

Run on Debian 12:

    apt-get install python3-fonttools python3-brotli
    mkdir work && cd work
    apt-get download fonts-inter && dpkg -x fonts-inter*.deb root
    npm pack of the packages that README.md names, unpacked in node_modules
    /usr/bin/python3 build.py WORK .

Inter Medium and SemiBold, the scripts, CJK and symbols are
internal/media/typeset's: scenes use the same files. Every file is gzip over OpenType. README.md says
what each holds and what it costs.
"""
import gzip
import io
import os
import sys

from fontTools import subset
from fontTools.ttLib import TTFont

LATIN = (
    "U+0020-024F,U+0250-036F,U+0370-03FF,U+0400-052F,U+1E00-1FFF,U+2000-206F,"
    "U+2070-209F,U+20A0-20CF,U+2100-214F,U+2190-22FF,U+2300-23FF,U+25A0-25FF,"
    "U+2600-27BF,U+FB00-FB06,U+FFFD"
)
BOXES = ",U+2500-259F,U+2800-28FF,U+E0A0-E0B3"
FEATURES = ["kern", "liga", "calt", "mark", "mkmk", "ccmp", "locl", "tnum", "zero", "case", "frac", "ss01", "ss02", "cv05", "cv11"]
EXPO = "node_modules/@expo-google-fonts"

FONTS = [
    ("inter-light.otf", "root/usr/share/fonts/opentype/inter/Inter-Light.otf", LATIN),
    ("inter-regular.otf", "root/usr/share/fonts/opentype/inter/Inter-Regular.otf", LATIN),
    ("inter-italic.otf", "root/usr/share/fonts/opentype/inter/Inter-Italic.otf", LATIN),
    ("inter-bold.otf", "root/usr/share/fonts/opentype/inter/Inter-Bold.otf", LATIN),
    ("inter-extrabold.otf", "root/usr/share/fonts/opentype/inter/Inter-ExtraBold.otf", LATIN),
    ("inter-black.otf", "root/usr/share/fonts/opentype/inter/Inter-Black.otf", LATIN),
] + [
    (f"{name}-{style.lower()}.ttf", f"{EXPO}/{name}/{weight}{style}/{file}_{weight}{style}.ttf", LATIN + (BOXES if "mono" in name else ""))
    for name, file, styles in [
        ("jetbrains-mono", "JetBrainsMono", ["400Regular", "500Medium", "700Bold", "800ExtraBold"]),
        ("instrument-serif", "InstrumentSerif", ["400Regular", "400Regular_Italic"]),
        ("source-serif-4", "SourceSerif4", ["400Regular", "400Regular_Italic", "600SemiBold"]),
        ("space-grotesk", "SpaceGrotesk", ["400Regular", "500Medium", "600SemiBold", "700Bold"]),
        ("fredoka", "Fredoka", ["500Medium", "600SemiBold", "700Bold"]),
        ("nunito", "Nunito", ["600SemiBold", "800ExtraBold"]),
        ("anton", "Anton", ["400Regular"]),
        ("caveat", "Caveat", ["500Medium", "600SemiBold", "700Bold"]),
    ]
    for weight, style in [(s[:3], s[3:]) for s in styles]
]


def emoji(work):
    """Noto Color Emoji as outlines (COLR version 1): sharp at every size.

    The whole font, without the same pictures as SVG and without vertical
    metrics.
    """
    font = TTFont(os.path.join(work, "node_modules/@fontsource/noto-color-emoji/files/noto-color-emoji-emoji-400-normal.woff2"))
    font.flavor = None
    for tag in ("SVG ", "vhea", "vmtx"):
        del font[tag]
    return font


def cut(source, chars):
    options = subset.Options()
    options.layout_features = FEATURES
    options.hinting = False
    options.name_IDs = [0, 1, 2, 4, 6, 13, 14, 16, 17]
    options.notdef_outline = True
    font = subset.load_font(source, options)
    cutter = subset.Subsetter(options)
    cutter.populate(unicodes=subset.parse_unicodes(chars.replace("U+", "")))
    cutter.subset(font)
    for tag in ("DSIG", "FFTM"):
        if tag in font:
            del font[tag]
    return font


def main():
    work, out = sys.argv[1], sys.argv[2]
    total = 0
    for name, path, chars in FONTS + [("noto-color-emoji.ttf", "", "")]:
        font = cut(os.path.join(work, path), chars) if path else emoji(work)
        raw = io.BytesIO()
        font.save(raw)
        target = os.path.join(out, name + ".gz")
        with open(target, "wb") as f:
            with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=f, mtime=0) as z:
                z.write(raw.getvalue())
        size = os.path.getsize(target)
        total += size
        n = font["name"]
        print(f"{name:34} {n.getDebugName(16) or n.getDebugName(1)} / {n.getDebugName(17) or n.getDebugName(2)} {font['OS/2'].usWeightClass} {len(font.getBestCmap()):5} characters {size/1024:6.0f} KiB")
    print(f"together {total/1024:.0f} KiB")


if __name__ == "__main__":
    main()
