#!/bin/sh
# After an installation or an upgrade, by dpkg or rpm. A program that runs is replaced only if the new one accepts the
# settings. Otherwise the old one serves on.
set -e
[ -d /run/systemd/system ] && [ -z "$DPKG_ROOT" ] || exit 0
systemctl daemon-reload
systemctl is-active --quiet waybook.service || exit 0
if (set -a; [ ! -r /etc/waybook/environment ] || . /etc/waybook/environment; exec waybook -check -config /etc/waybook/waybook.yaml); then
  systemctl restart waybook.service
else
  echo 'waybook: not restarted: the program from before serves on. Correct the settings, then: systemctl restart waybook' >&2
fi
