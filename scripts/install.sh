#!/bin/sh
# Installs the named programs where they are missing, with the system's package manager.
# Usage: scripts/install.sh fio mkfs.xfs chromium …
set -eu

say() { printf 'ebscope: %s\n' "$*" >&2; }

manager() {
	for m in apt-get dnf apk brew; do
		if command -v "$m" >/dev/null 2>&1; then
			echo "$m"
			return
		fi
	done
}

# package PROGRAM MANAGER prints the package that holds a program.
package() {
	case "$1" in
	mkfs.xfs) echo xfsprogs ;;
	mkfs.ext4) echo e2fsprogs ;;
	sfdisk) [ "$2" = apt-get ] && echo fdisk || echo util-linux ;;
	pvcreate) echo lvm2 ;;
	wipefs) echo util-linux ;;
	busybox) [ "$2" = dnf ] && echo busybox || echo busybox-static ;;
	ptp) [ "$2" = apk ] && echo cni-plugins || echo containernetworking-plugins ;;
	fusermount3) [ "$2" = brew ] || echo fuse3 ;;
	qemu-storage-daemon) case "$2" in apt-get) echo qemu-system-common ;; dnf) echo qemu-img ;; apk) echo qemu-storage-daemon ;; *) echo qemu ;; esac ;;
	*) echo "$1" ;;
	esac
}

present() {
	command -v "$1" >/dev/null 2>&1 || [ -x "/usr/sbin/$1" ] || [ -x "/sbin/$1" ] ||
		[ -x "/usr/lib/cni/$1" ] || [ -x "/usr/libexec/cni/$1" ] || [ -x "/opt/cni/bin/$1" ] # plugins for the network of pods
}

missing=
m=$(manager)
for program in "$@"; do
	present "$program" || missing="$missing $(package "$program" "${m:-none}")"
done
[ -n "$missing" ] || exit 0

if [ -z "$m" ]; then
	say "missing:$missing. No apt-get, dnf, apk or brew was found: install these by hand and run this again."
	exit 1
fi
as_root=
if [ "$m" != brew ] && [ "$(id -u)" != 0 ]; then
	if ! command -v sudo >/dev/null 2>&1; then
		say "missing:$missing. Install these as root and run this again."
		exit 1
	fi
	as_root=sudo
fi
say "installing$missing with $m"
# Package managers write what they do to stdout; ebscope keeps that for results.
# shellcheck disable=SC2086 # a list of packages
case "$m" in
apt-get)
	$as_root apt-get update -qq >&2
	$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >&2
	;;
dnf) $as_root dnf install -y -q $missing >&2 ;;
apk) $as_root apk add --quiet $missing >&2 ;;
brew) brew install --quiet $missing >&2 ;;
esac
for program in "$@"; do
	present "$program" || { say "$program is still missing after installing$missing"; exit 1; }
done
