#!/usr/bin/env bash
# Makes a film of a prompt, from end to end, with no key: the template author
# stands in for a model, and everything else is as it always is: gateway, box,
# way out. The films, posters and contact sheets lie in demo/generate/.
#
#   scripts/demo-generate.sh [PROMPT [STYLE]]
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$PWD/bin:$PWD/.tools/bin:$PATH"
unset ANTHROPIC_API_KEY
out=$PWD/demo/generate
mkdir -p "$out"
prompt=${1:-A launch film for Lumen, a database that answers before you ask. Fast, small, open source. Runs on one machine.}
style=${2:-midnight}
film=$out/$style.mp4
seconds=${SECONDS_OF_FILM:-5}

proofreel setup --output text
began=$SECONDS
proofreel generate "$prompt" --seconds "$seconds" --style "$style" -o "$film" --output text
took=$((SECONDS - began))

# What left the box, looked at by another program than ours.
ffprobe -v error -show_entries stream=codec_name,profile,pix_fmt,width,height,avg_frame_rate,nb_frames -of default=nw=1 "$film"
ffmpeg -v error -y -i "$film" -vf 'fps=12/'"$seconds"',scale=480:-2,tile=4x3' -frames:v 1 "$out/$style-sheet.png"
printf '\n%s s of film in %d s: %s, %s, %s\n' "$seconds" "$took" "$film" "${film%.mp4}.jpg" "$out/$style-sheet.png"
if [ "$took" -ge 240 ]; then
  echo "that is four minutes or more" >&2
  exit 1
fi
