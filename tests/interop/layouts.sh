# shellcheck shell=bash
# The fourteen RAID6 layouts by mdadm's names, which are mdvol's too.
# shellcheck disable=SC2034
ALL_LAYOUTS=(left-asymmetric right-asymmetric left-symmetric right-symmetric parity-first parity-last
  ddf-zero-restart ddf-N-restart ddf-N-continue left-asymmetric-6 right-asymmetric-6 left-symmetric-6
  right-symmetric-6 parity-first-6)
