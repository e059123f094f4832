#!/usr/bin/env bash
# Installs what boxes need: bubblewrap from the distribution, and runsc
# (gVisor), built from its Go module at a pinned version into .tools/bin.
#
# It looks first and does nothing when all is there. The build takes two to
# seven minutes and about 100 MB of downloads; the Go module and build caches
# make the next one shorter. runsc must be static: it starts itself again in a
# root without libraries.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)

# A commit of gVisor's "go" branch, which is the one that "go build" can build.
runsc_version=v0.0.0-20260701204157-69c2d17aea96
# The hash of its source, as the Go tool notes it in the program.
runsc_sum=h1:LZXOf4NwvAwUy/eI8P+Y3DUdYLyaCEDNPEjsL2OP2ro=

say() { printf 'install-box: %s\n' "$*"; }
die() { printf 'install-box: %s\n' "$@" >&2; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }

install_bubblewrap() {
  local words
  have bwrap && return 0
  have apt-get || die "bubblewrap 0.8 or later is missing: install it with this system's package manager"
  if [ "$(id -u)" = 0 ]; then
    words=(env)
  elif have sudo && sudo -n true 2>/dev/null; then
    words=(sudo -n env)
  else
    die "bubblewrap is missing; an administrator must run: apt-get install -y bubblewrap"
  fi
  say "installing bubblewrap"
  local apt=(DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=600 -o Acquire::Retries=3)
  "${words[@]}" "${apt[@]}" update >/dev/null || say "apt-get update had errors; going on"
  "${words[@]}" "${apt[@]}" install --no-install-recommends bubblewrap >/dev/null || die "apt-get could not install bubblewrap"
  have bwrap || die "bubblewrap was installed but is not in PATH"
}

# runsc_is_there compares what the Go tool noted in the program.
runsc_is_there() {
  [ -x "$root/.tools/bin/runsc" ] &&
    go version -m "$root/.tools/bin/runsc" 2>/dev/null | grep -qF "gvisor.dev/gvisor	$runsc_version	$runsc_sum"
}

install_runsc() {
  local began=$SECONDS words=()
  runsc_is_there && return 0
  have go || die "Go is needed and is not in PATH: https://go.dev/dl/"
  case $(uname -m) in
    x86_64 | aarch64) ;;
    *) say "gVisor does not run on $(uname -m): going on without it"; return 0 ;;
  esac
  say "building runsc $runsc_version; this takes minutes"
  mkdir -p "$root/.tools/bin"
  have nice && words=(nice -n 10)
  # Outside of the repository: its go.mod has no say in gVisor's modules.
  (cd / && CGO_ENABLED=0 GOFLAGS=-mod=mod GOBIN="$root/.tools/bin" \
    "${words[@]}" go install -trimpath -ldflags '-s -w' "gvisor.dev/gvisor/runsc@$runsc_version") ||
    die "runsc could not be built"
  runsc_is_there || die "runsc was built but is not $runsc_version $runsc_sum"
  say "runsc took $((SECONDS - began)) s"
}

install_bubblewrap
install_runsc
