#!/usr/bin/env bash
# Checks every example scene, renders it and draws its contact sheet. The films,
# posters and sheets lie in demo/scenes/. The first thing that is wrong ends it.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$PWD/bin:$PWD/.tools/bin:$PATH"
out=$PWD/demo/scenes
rm -rf "$out"
mkdir -p "$out"
began=$SECONDS
for file in examples/*/scene.js; do
  name=$(basename "$(dirname "$file")")
  printf '\n== %s\n' "$name"
  proofreel scene check "$file" --output text
  proofreel render "$file" -o "$out/$name.mp4" --poster "$out/$name.jpg" --output text
  proofreel sheet "$file" -o "$out/$name.png" --output text
done
printf '\n%d scenes in %d s, in %s\n' "$(find "$out" -name '*.mp4' | wc -l)" $((SECONDS - began)) "$out"
