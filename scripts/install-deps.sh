#!/usr/bin/env bash
# Installs what Proofreel needs on Debian and Ubuntu: ffmpeg, a virtual X
# server, a window manager, Chromium, fonts and agent-browser (pinned).
#
# It looks first and does nothing when all is there. As root it installs
# directly; as an ordinary user through sudo when that asks for no password;
# else it says what an administrator must run, and fails. agent-browser goes
# into .tools/ when it can't be installed for the whole machine, or when the
# machine has another version. With the argument "test" it also installs what
# only the tests film.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)

agent_browser_version=0.41.2
# command:package
programs=(
  ffmpeg:ffmpeg ffprobe:ffmpeg Xvfb:xvfb openbox:openbox xauth:xauth
  xdpyinfo:x11-utils fc-list:fontconfig
)
case ${1:-} in
  '') ;;
  test) programs+=(
    xterm:xterm xdotool:xdotool l3afpad:l3afpad xsetroot:x11-xserver-utils Xvnc:tigervnc-standalone-server Xephyr:xserver-xephyr
  ) ;;
  *) echo "usage: install-deps.sh [test]" >&2; exit 2 ;;
esac
# Latin with the usual metrics, Chinese/Japanese/Korean, emoji.
fonts=(fonts-liberation fonts-dejavu-core fonts-wqy-zenhei fonts-noto-color-emoji)

say() { printf 'install-deps: %s\n' "$*"; }
die() { printf 'install-deps: %s\n' "$@" >&2; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }

installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null || true)" = installed ]; }

# available says whether this system has the package: Ubuntu has no headless
# shell, and scenes are drawn by the whole Chromium then, which starts slower.
available() { [ -n "$(apt-cache show "$1" 2>/dev/null)" ]; }

# missing_packages prints the packages that are not there, one a line.
missing_packages() {
  local entry
  for entry in "${programs[@]}"; do
    have "${entry%%:*}" || echo "${entry#*:}"
  done
  have chromium || have google-chrome || have google-chrome-stable || echo chromium
  have chromium-headless-shell || ! available chromium-headless-shell || echo chromium-headless-shell
  for entry in "${fonts[@]}"; do
    installed "$entry" || echo "$entry"
  done
  if ! agent_browser_is_there && ! have npm; then
    echo nodejs
    echo npm
    echo ca-certificates
  fi
}

agent_browser_is_there() {
  local found
  found=$(PATH="$root/.tools/bin:$PATH" agent-browser --version 2>/dev/null || true)
  [ "$found" = "agent-browser $agent_browser_version" ]
}

# find_root sets as_root to the words before a command that needs root; none
# when this user can get no rights without a password.
find_root() {
  local keep=http_proxy,https_proxy,no_proxy,HTTP_PROXY,HTTPS_PROXY,NO_PROXY,NODE_EXTRA_CA_CERTS
  if [ "$(id -u)" = 0 ]; then
    as_root=(env)
  elif have sudo && sudo -n "--preserve-env=$keep" true 2>/dev/null; then
    as_root=(sudo -n "--preserve-env=$keep" env)
  elif have sudo && sudo -n true 2>/dev/null; then
    as_root=(sudo -n env)
  else
    as_root=()
  fi
}

install_packages() {
  local apt=(DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=600 -o Acquire::Retries=3)
  say "installing: $*"
  # One of several sources may be out of order; what counts is the install.
  "${as_root[@]}" "${apt[@]}" update >/dev/null || say "apt-get update had errors; going on"
  "${as_root[@]}" "${apt[@]}" install --no-install-recommends "$@" >"$log" 2>&1 || {
    tail -n 20 "$log" >&2
    die "apt-get could not install: $*"
  }
}

install_agent_browser() {
  local prefix=$root/.tools words=(env) native
  if [ ${#as_root[@]} -gt 0 ] && ! have agent-browser; then
    prefix=$("${as_root[@]}" npm config get prefix)
    words=("${as_root[@]}")
  fi
  say "installing agent-browser $agent_browser_version into $prefix"
  # Its install script only downloads or links the native program, which is
  # in the package already: that is done below, and no script of a package runs.
  "${words[@]}" npm install --global --prefix "$prefix" --ignore-scripts --no-audit --no-fund \
    "agent-browser@$agent_browser_version" >"$log" 2>&1 || {
    tail -n 20 "$log" >&2
    die "npm could not install agent-browser@$agent_browser_version"
  }
  native=$prefix/lib/node_modules/agent-browser/bin/agent-browser-linux-$(machine)
  [ -f "$native" ] || die "agent-browser has no program for this machine: $native"
  "${words[@]}" chmod 755 "$native"
  "${words[@]}" ln -sfn "$native" "$prefix/bin/agent-browser"
}

machine() {
  local libc=
  if compgen -G '/lib/ld-musl-*' >/dev/null; then libc=musl-; fi
  case $(uname -m) in
    x86_64) echo "${libc}x64" ;;
    aarch64) echo "${libc}arm64" ;;
    *) uname -m ;;
  esac
}

have go || die "Go is needed and is not in PATH: https://go.dev/dl/"
if ! have dpkg-query; then
  # The doctor knows the names in other package managers.
  exec env CGO_ENABLED=0 go run "$root/cmd/proofreel" doctor
fi

mapfile -t missing < <(missing_packages | sort -u)
if [ ${#missing[@]} -eq 0 ] && agent_browser_is_there; then
  exit 0
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
as_root=()
find_root
if [ ${#missing[@]} -gt 0 ]; then
  if [ ${#as_root[@]} -eq 0 ]; then
    die "missing: ${missing[*]}" \
      "this user can't install them; an administrator must run:" \
      "  apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
  fi
  install_packages "${missing[@]}"
fi
if ! agent_browser_is_there; then
  install_agent_browser
  agent_browser_is_there || die "agent-browser $agent_browser_version was installed but does not answer"
fi
say "all is there"
