#!/usr/bin/env python3
"""Makes the font files of this folder from Debian's packages.

A developer's tool: the files that it makes are checked in, a build needs none
of this. Run on Debian 12:

    apt-get install python3-fonttools python3-pil pngquant
    mkdir debs && cd debs
    apt-get download fonts-inter fonts-noto-cjk-extra fonts-noto-extra \
        fonts-noto-core fonts-noto-color-emoji
    for d in *.deb; do dpkg -x "$d" root; done
    /usr/bin/python3 subset.py root/usr/share/fonts .

Every file is gzip over OpenType: Go's standard library reads it, and only the
fonts that a text needs are unpacked. What each holds, and how large it is,
stands in README.md beside this script.
"""
import gzip
import io
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from fontTools import subset
from fontTools.ttLib import TTFont
from PIL import Image

LATIN = (
    "U+0020-024F,U+0250-036F,U+0370-03FF,U+0400-052F,U+1E00-1FFF,U+2000-206F,"
    "U+2070-209F,U+20A0-20CF,U+2100-214F,U+2190-22FF,U+2300-23FF,U+25A0-25FF,"
    "U+2600-27BF,U+FB00-FB06,U+FFFD"
)
SYMBOLS = (
    "U+2010-205E,U+2070-209F,U+2100-218B,U+2190-21FF,U+2300-23FF,U+2400-2426,"
    "U+2440-244A,U+2460-24FF,U+25A0-25FF,U+2600-26FF,U+2700-27BF,U+2900-297F,"
    "U+2B00-2BFF,U+1F100-1F1E5,U+1F780-1F7FF,U+1F800-1F8FF"
)
MATH = "U+2200-22FF,U+27C0-27EF,U+2980-2AFF,U+1D400-1D7FF"
BOX = "U+2400-2426,U+2500-259F,U+2800-28FF"

# Scripts whose letters stand in one small font each. Medium is the weight
# between the two of the Latin: one fallback file serves both.
SCRIPTS = [
    "Arabic", "Armenian", "Bengali", "Devanagari", "Ethiopic", "Georgian",
    "Gujarati", "Gurmukhi", "Hebrew", "Kannada", "Khmer", "Lao", "Malayalam",
    "Myanmar", "Sinhala", "Tamil", "Telugu", "Thai",
]
EMOJI_PPEM = 52
TONES = {"u1F3FB", "u1F3FC", "u1F3FD", "u1F3FE", "u1F3FF"}


def codec_chars(codec, rows, cells):
    """The characters of a double-byte character set's rows."""
    out = set()
    for hi in rows:
        for lo in cells:
            try:
                out.update(bytes([hi, lo]).decode(codec))
            except UnicodeDecodeError:
                pass
    return out


def cjk_chars():
    """What newspapers print: the first levels of the national standards."""
    cells = range(0xA1, 0xFF)
    simplified = codec_chars("gb2312", range(0xB0, 0xF8), cells)  # both levels
    traditional = codec_chars("big5", range(0xA4, 0xC7), list(range(0x40, 0x7F)) + list(cells))
    japanese = codec_chars("euc_jp", range(0xB0, 0xD0), cells)  # JIS X 0208, level 1
    japanese |= set("丼傲刹剝勃勾匂叱咽哺喩嗅嘲毀彙恣惧慄憬拉拶挨挫捉捗摯斬旺曖曽柵椎楷毀氾沃汎沙淫渦湧溺瀞煎爽爪狙瑠璃璧畏瘍痕痩眉睦瞳禾窟箋箸籠綻緻罵羞羨翁肘脇脊脹膝膳臆臼舷艶芯苛茨萎葛蔑蔽蓋藍藤虎虹蜂蜜袖裾裔襟詣詮誰謎謙貌貪貼賂賭踪蹴辣遜遡酎醒采釜錦錮鍋鍵鎌闇阜隙韓頃頓須頬頰顎餌餅駒駄骸鬱鶴鹿麓麺黎黛鼠")
    korean = codec_chars("euc_kr", range(0xB0, 0xC9), cells)  # KS X 1001 syllables
    marks = set(map(chr, list(range(0x3000, 0x3100)) + list(range(0x3131, 0x318F)) + list(range(0xFF01, 0xFF9E)) + list(range(0xFFE0, 0xFFE7))))
    return simplified | traditional | japanese | korean | marks


def write(name, font, out):
    for tag in ("DSIG", "BASE", "FFTM", "vhea", "vmtx", "VORG"):
        if tag in font:
            del font[tag]
    raw = io.BytesIO()
    font.save(raw)
    path = os.path.join(out, name + ".gz")
    with open(path, "wb") as f:
        with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=f, mtime=0) as z:
            z.write(raw.getvalue())
    glyphs = len(font.getGlyphOrder())
    print(f"{name:28} {len(font.getBestCmap()):6} characters {glyphs:6} glyphs {len(raw.getvalue())/1024:8.0f} KiB, gzip {os.path.getsize(path)/1024:8.0f} KiB", flush=True)


def cut(source, chars, number=0, features=None):
    options = subset.Options()
    options.layout_features = features or ["*"]
    options.hinting = False
    options.name_IDs = [0, 1, 2, 4, 6, 13, 14, 16, 17]
    options.notdef_outline = True
    options.font_number = number
    font = subset.load_font(source, options)
    cutter = subset.Subsetter(options)
    cutter.populate(unicodes=chars)
    cutter.subset(font)
    return font


def ranges(text):
    return subset.parse_unicodes(text.replace("U+", ""))


def small_png(data):
    """One picture, smaller and with a palette of its own."""
    picture = Image.open(io.BytesIO(data)).convert("RGBA")
    width = round(picture.width * EMOJI_PPEM / 109)
    height = round(picture.height * EMOJI_PPEM / 109)
    # Transparent pixels carry no colour: premultiplied scaling keeps edges clean.
    picture = picture.convert("RGBa").resize((width, height), Image.LANCZOS).convert("RGBA")
    raw = io.BytesIO()
    picture.save(raw, "PNG")
    run = subprocess.run(["pngquant", "--speed", "4", "--strip", "48", "-"], input=raw.getvalue(), stdout=subprocess.PIPE, check=True)
    return run.stdout, width, height


def emoji(source):
    """Noto Color Emoji, its pictures at EMOJI_PPEM instead of 109.

    Couples of two skin tones (295 pictures) are left out: they are drawn as
    the two people beside each other.
    """
    options = subset.Options()
    options.layout_features = ["*"]
    font = subset.load_font(source, options)
    for sub in font["GSUB"].table.LookupList.Lookup[0].SubTable:
        for first, ligatures in sub.ligatures.items():
            sub.ligatures[first] = [l for l in ligatures if sum(c in TONES for c in [first] + l.Component) < 2]
    cutter = subset.Subsetter(options)
    cutter.populate(unicodes=list(font.getBestCmap()))
    cutter.subset(font)
    scale = EMOJI_PPEM / 109
    strike = font["CBDT"].strikeData[0]
    names = list(strike)
    with ThreadPoolExecutor(2) as pool:
        pictures = list(pool.map(lambda n: small_png(strike[n].imageData), names))
    for name, (data, width, height) in zip(names, pictures):
        glyph = strike[name]
        glyph.imageData = data
        m = glyph.metrics
        m.width, m.height = width, height
        m.BearingX = round(m.BearingX * scale)
        m.BearingY = round(m.BearingY * scale)
        m.Advance = round(m.Advance * scale)
    size = font["CBLC"].strikes[0].bitmapSizeTable
    size.ppemX = size.ppemY = EMOJI_PPEM
    for line in (size.hori, size.vert):
        line.ascender = round(line.ascender * scale)
        line.descender = round(line.descender * scale)
        line.widthMax = round(line.widthMax * scale)
    return font


def main():
    fonts, out = sys.argv[1], sys.argv[2]
    only = set(sys.argv[3:])
    wanted = lambda name: not only or name in only
    truetype, opentype = os.path.join(fonts, "truetype/noto"), os.path.join(fonts, "opentype")
    for weight in ("Medium", "SemiBold"):
        if wanted("latin"):
            write(f"inter-{weight.lower()}.otf", cut(f"{opentype}/inter/Inter-{weight}.otf", ranges(LATIN), features=["kern", "liga", "calt", "mark", "mkmk", "ccmp", "locl"]), out)
    if wanted("cjk"):
        chars = [ord(c) for c in cjk_chars()]
        write("noto-cjk.otf", cut(f"{opentype}/noto/NotoSansCJK-Medium.ttc", chars, number=2, features=["locl", "ccmp"]), out)
    for script in SCRIPTS:
        if wanted("scripts"):
            path = f"{truetype}/NotoSans{script}-Medium.ttf"
            with TTFont(path) as whole:
                write(f"noto-{script.lower()}.ttf", cut(path, list(whole.getBestCmap())), out)
    if wanted("symbols"):
        write("noto-symbols.ttf", cut(f"{truetype}/NotoSansSymbols-Medium.ttf", ranges(SYMBOLS)), out)
        write("noto-symbols2.ttf", cut(f"{truetype}/NotoSansSymbols2-Regular.ttf", ranges(SYMBOLS + "," + BOX)), out)
        write("noto-math.ttf", cut(f"{truetype}/NotoSansMath-Regular.ttf", ranges(MATH + "," + SYMBOLS)), out)
    if wanted("emoji"):
        write("noto-emoji.ttf", emoji(f"{truetype}/NotoColorEmoji.ttf"), out)


if __name__ == "__main__":
    main()
