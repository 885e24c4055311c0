# What the tests in a virtual machine share: a Debian kernel, a root in memory with busybox, and the machine. Sourced.
#
# LINUX is a folder with an unpacked Debian kernel package (boot/, lib/modules/); without it the package is fetched with
# apt-get. What is missing is said, and then the exit code is 77.

export PATH="$PATH:/usr/sbin:/sbin"
this=$(basename "$0")
skip() { echo "skipped: $this: $*"; exit 77; }

# needs TOOL…: the tools of this machine, beside those of every guest
needs() {
  for tool in qemu-system-x86_64 busybox modprobe depmod cpio gzip ldd "$@"; do
    command -v "$tool" >/dev/null || skip "needs $tool (apt-get install qemu-system-x86 busybox-static mdadm kmod cpio)"
  done
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  root=$work/root
  mkdir -p "$root"/{bin,dev,proc,sys,tmp,modules}
  cp "$(command -v busybox)" "$root/bin/busybox"
}

# linux_of [LINUX]: sets linux, kernel and version
linux_of() {
  linux=${1:-}
  if [ -z "$linux" ]; then
    package=$(apt-cache search --names-only '^linux-image-6\.[0-9.]+(-[0-9]+|\+[a-z0-9.]+)-amd64$' 2>/dev/null | awk '{print $1}' | sort -V | tail -1)
    [ -n "$package" ] && (cd "$work" && apt-get download -qq "$package" && dpkg-deb -x ./*.deb linux) || skip 'needs a Debian kernel package'
    linux=$work/linux
  fi
  # Newer packages have their modules below usr/.
  [ -d "$linux/lib/modules" ] || { mkdir -p "$work/merged"; ln -sfn "$(realpath "$linux/boot")" "$work/merged/boot"; ln -sfn "$(realpath "$linux/usr/lib")" "$work/merged/lib"; linux=$work/merged; }
  kernel=$(ls "$linux"/boot/vmlinuz-* | head -1)
  version=${kernel##*/vmlinuz-}
  depmod -b "$linux" "$version"
}

# programs PATH…: into the guest, with the libraries that they need
programs() {
  local program
  for program in "$@"; do
    cp "$program" "$root/bin/"
    ldd "$program" 2>/dev/null | grep -o '/[^ ]*' | while read -r library; do
      mkdir -p "$root$(dirname "$library")"
      cp -Ln "$library" "$root$library"
    done || true  # a static program has none
  done
}

# modules NAME…: into the guest in the order in which they load; skips where the kernel has none
modules() {
  local module path
  for module in "$@"; do
    modprobe -d "$linux" -S "$version" --show-depends "$module" >"$work/depends" 2>/dev/null \
      || skip "the kernel $version has no module $module; LINUX names a folder with another one"
    awk '$1 == "insmod" {print $2}' "$work/depends"
  done | awk '!seen[$0]++' | while read -r path; do
    name=$(basename "$path")
    case $path in *.xz) name=${name%.xz}; xz -dc "$path" >"$root/modules/$name" ;; *) cp "$path" "$root/modules/" ;; esac
    echo "$name" >> "$root/modules/order"
  done
}

# boot SECONDS [QEMU OPTION]…: runs $root/init until it powers off; its console goes to $work/log
boot() {
  local seconds=$1
  shift
  chmod +x "$root/init"
  (cd "$root" && find . | cpio -o -H newc --quiet | gzip -1) > "$work/initrd.gz"
  # Emulated: slower, and the same everywhere. GUEST_ACCEL=kvm where that works.
  timeout "$seconds" qemu-system-x86_64 -M q35 -accel "${GUEST_ACCEL:-tcg,thread=multi}" -cpu max -smp 2 -m 1536 -kernel "$kernel" \
    -initrd "$work/initrd.gz" -append 'console=ttyS0 quiet panic=-1 mitigations=off' -nographic -no-reboot -nodefaults \
    -serial stdio "$@" </dev/null | tee "$work/log" | sed -u "s,^,  | ,"
}
