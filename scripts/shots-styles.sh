#!/usr/bin/env bash
# A still of every style, from its scene in examples/looks, into docs/styles/.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$PWD/bin:$PWD/.tools/bin:$PATH"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p docs/styles
for file in examples/looks/*/scene.js; do
  name=$(basename "$(dirname "$file")")
  proofreel still "$file" --at 4 -o "$work/$name.png" --output text
  ffmpeg -v error -y -i "$work/$name.png" -vf scale=960:-2:flags=lanczos -q:v 3 -bitexact "docs/styles/$name.jpg"
done
ls -l docs/styles
