#!/bin/sh
# Before a removal (dpkg: remove, rpm: 0) or an upgrade, by dpkg or rpm.
set -e
[ -d /run/systemd/system ] && [ -z "$DPKG_ROOT" ] || exit 0
case "$1" in
  remove | 0) systemctl disable --now waybook-backup.timer waybook.service ;;
esac
