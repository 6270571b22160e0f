#!/usr/bin/env bash
# Installs what the tests need and this machine lacks, and besides the tools that are named.
# Debian and Ubuntu.
set -euo pipefail

missing=()
for tool in "$@"; do
    command -v "$tool" >/dev/null || missing+=("$tool")
done
command -v caddy >/dev/null || missing+=(caddy)
command -v curl >/dev/null || missing+=(curl)
command -v nginx >/dev/null || [ -x /usr/sbin/nginx ] || missing+=(nginx)
command -v redis-server >/dev/null || missing+=(redis-server)
command -v chromium-headless-shell >/dev/null || missing+=(chromium-headless-shell)
command -v prometheus-blackbox-exporter >/dev/null || command -v blackbox_exporter >/dev/null || missing+=(prometheus-blackbox-exporter)
command -v initdb >/dev/null || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || missing+=(postgresql)
[ ${#missing[@]} -eq 0 ] && exit 0

if ! command -v apt-get >/dev/null; then
    echo "The tests need: ${missing[*]}. Install them with your package manager and run make test again." >&2
    exit 1
fi
as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)
echo "installing ${missing[*]} (apt)"
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
