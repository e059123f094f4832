#!/usr/bin/env bash
# Films the test rig from start to verified MP4, as an agent would: start,
# drive the browser through the returned command, steps and results, status,
# stop. Everything it makes is below ./demo/, and nothing of it is left
# running, however it ends.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
out=$root/demo
size=${DEMO_SIZE:-1920x1080}
export PATH="$root/bin:$root/.tools/bin:$PATH"
export PROOFREEL_HOME=$out/recordings PROOFREEL_OUTPUT=json

say() { printf '\n== %s\n' "$*"; }
die() { printf 'demo: %s\n' "$*" >&2; exit 1; }
pick() { jsonpick "$1" <"$2"; }

rig_pid=
recording=
clean_up() {
  local rc=$?
  trap - EXIT INT TERM HUP
  if [ -n "$recording" ]; then
    echo "demo: ending the recording" >&2
    proofreel stop "$recording" >/dev/null 2>&1 || proofreel discard "$recording" >/dev/null 2>&1 || true
  fi
  if [ -n "$rig_pid" ]; then
    kill "$rig_pid" 2>/dev/null || true
    wait "$rig_pid" 2>/dev/null || true
  fi
  [ -z "${work:-}" ] || rm -rf "$work"
  [ "$rc" = 0 ] || echo "demo: failed ($rc)" >&2
  exit "$rc"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

[ -x bin/proofreel ] || die "there is no bin/proofreel: run make demo"
work=$(mktemp -d)
mkdir -p "$out"

say "Build"
export CGO_ENABLED=0
go build -o bin/rigserve ./web/rig/cmd/rigserve
go build -o bin/jsonpick ./scripts/jsonpick

say "Serve the test rig"
mkfifo "$work/rig"
rigserve >"$work/rig" &
rig_pid=$!
exec 3<"$work/rig"
read -r url <&3 || die "the rig did not start"
echo "$url"

say "proofreel start --url $url?mode=anim --size $size --name demo --publish dir:$out"
rc=0
proofreel start --url "$url?mode=anim" --size "$size" --name demo --publish "dir:$out" >"$work/start.json" 2>"$work/start.err" || rc=$?
cat "$work/start.json" "$work/start.err"
[ "$rc" = 0 ] || die "start failed with exit code $rc"
recording=$(pick data.recordingId "$work/start.json")
mapfile -t browser < <(pick data.agentBrowserCommand "$work/start.json")
export PROOFREEL_RECORDING=$recording
act() {
  printf '+ %s %s\n' "${browser[0]} ..." "$*"
  "${browser[@]}" "$@"
}

say "Drive the browser: ${browser[*]}"
proofreel step "Start the clock" >/dev/null
act click '#clock'
before=$(act get text '#clock' | tail -n 1)
act wait 1000
after=$(act get text '#clock' | tail -n 1)
if [ "$before" != "$after" ]; then
  proofreel result pass "The clock runs: $before, then $after" >/dev/null
else
  proofreel result fail "The clock stands at $after" >/dev/null
fi
proofreel step "Flash the page" >/dev/null
act click '#flash'
act wait 800
proofreel result pass "The page flashed" >/dev/null
proofreel step "Click every target" >/dev/null
for n in 1 2 3 4 5 6 7 8; do
  act click "#t$n"
done
act wait 500
proofreel result pass "Eight targets changed their colours" >/dev/null

say "proofreel status"
proofreel status "$recording"

say "proofreel stop"
rc=0
proofreel stop "$recording" >"$work/stop.json" 2> >(tee "$work/stop.err" >&2) || rc=$?
cat "$work/stop.json"
[ "$rc" = 0 ] || die "stop failed with exit code $rc"
recording=
film=$(pick data.path "$work/stop.json")

say "Check with ffprobe, which Proofreel itself does not use"
expect() { # NAME WANT GOT
  printf '%-14s %s\n' "$1" "$3"
  [ "$2" = "$3" ] || die "$1 is $3, not $2"
}
probe() { ffprobe -v error -select_streams v:0 -show_entries "$1" -of default=noprint_wrappers=1:nokey=1 "$film"; }
expect codec h264 "$(probe stream=codec_name)"
expect profile High "$(probe stream=profile)"
expect pixels yuv420p "$(probe stream=pix_fmt)"
expect size "$(pick data.size "$work/stop.json")" "$(probe stream=width)x$(probe stream=height)"
expect colours bt709/bt709/bt709/tv "$(probe stream=color_space)/$(probe stream=color_transfer)/$(probe stream=color_primaries)/$(probe stream=color_range)"
rate=$(pick data.rate "$work/stop.json")
if [ "$rate" = cfr ]; then
  fps=$(pick data.fps "$work/stop.json")/1
  expect "frame rate" "$fps" "$(probe stream=r_frame_rate)"
  expect "average rate" "$fps" "$(probe stream=avg_frame_rate)"
fi
frames=$(ffprobe -v error -count_packets -select_streams v:0 -show_entries stream=nb_read_packets -of default=noprint_wrappers=1:nokey=1 "$film")
expect frames "$(pick data.frames "$work/stop.json")" "$frames"
expect bytes "$(pick data.bytes "$work/stop.json")" "$(stat -c %s "$film")"
expect sha256 "$(pick data.sha256 "$work/stop.json")" "$(sha256sum "$film" | cut -d ' ' -f 1)"
expect decodes "" "$(ffmpeg -v error -i "$film" -f null - 2>&1)"

say "The film ($(pick data.verdict "$work/stop.json"), $(pick data.durationSeconds "$work/stop.json") s)"
echo "$film"
