#!/bin/sh
# After an installation or an upgrade, by dpkg or rpm.
set -e
[ -d /run/systemd/system ] && [ -z "$DPKG_ROOT" ] || exit 0
systemctl daemon-reload
# Where the former version runs, the new one takes its place.
systemctl try-restart waybook.service
