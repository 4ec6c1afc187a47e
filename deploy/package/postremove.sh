#!/bin/sh
# After a removal. The data stay in /var/lib/waybook.
set -e
[ -d /run/systemd/system ] && [ -z "$DPKG_ROOT" ] || exit 0
systemctl daemon-reload
