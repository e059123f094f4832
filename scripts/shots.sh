#!/usr/bin/env bash
# Pictures of what a person sees: frames of a clip with its pills, and its page
# in Chromium, wide and light, wide and dark, and as on a phone. They are made
# from the demo's newest recording and lie in demo/shots/.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$PWD/bin:$PWD/.tools/bin:$PATH"
export PROOFREEL_HOME=$PWD/demo/recordings PROOFREEL_OUTPUT=json
out=$PWD/demo/shots
die() { printf 'shots: %s\n' "$*" >&2; exit 1; }

[ -d "$PROOFREEL_HOME/recordings" ] || die "there is no recording: run make demo first"
browser=$(command -v chromium || command -v google-chrome || command -v google-chrome-stable) || die "there is no Chromium: run make install-deps"
rm -rf "$out"
mkdir -p "$out"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -o bin/jsonpick ./scripts/jsonpick
for position in top bottom; do
  proofreel clip --out "$out" --name "$position" --position "$position" >"$work/$position.json"
done
clip=$(jsonpick data.path <"$work/top.json")
page=$(jsonpick data.page <"$work/top.json")

for position in top bottom; do
  film=$(jsonpick data.path <"$work/$position.json")
  # A second of film a picture: each pill is up for at least two.
  ffmpeg -v error -y -i "$film" -vf fps=1 "$out/pills-$position-%02d.png"
done

sandbox=()
[ "$(id -u)" != 0 ] || sandbox=(--no-sandbox)
shoot() { # NAME SIZE MORE...
  local name=$1 size=$2
  shift 2
  "$browser" --headless "${sandbox[@]}" --disable-gpu --disable-background-networking --hide-scrollbars \
    --user-data-dir="$work/profile" --window-size="$size" --virtual-time-budget=3000 \
    --screenshot="$out/$name.png" "$@" "file://$page" 2>"$work/chromium.log" || die "Chromium: $(tail -n 3 "$work/chromium.log")"
}
shoot page-light 1200,900
shoot page-dark 1200,900 --blink-settings=preferredColorScheme=0
shoot page-phone 500,900 # the narrowest window that Chromium makes; the tests go to 320
printf 'From %s:\n' "$clip"
ls "$out"/*.png
