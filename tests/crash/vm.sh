#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# vm.sh GUEST [ROUNDS]: the power goes off under a real kernel and a real file system, ROUNDS times (12).
#
# A machine (qemu, by KVM where there is one) boots a Debian kernel with an ext4 disk; GUEST (vm_guest.c) adds keys,
# syncs, publishes, and says on the serial console what it was told.  qemu is killed at a random instant.  The
# disk is a qcow2 image with a write-back cache, so what the guest has not flushed is lost with qemu's own
# tables.  The next boot on that disk looks whether all that was told of is there, and goes on from it.
#
# Needs qemu-system-x86_64, qemu-img, mkfs.ext4, cpio, a static busybox, and a kernel with its modules:
#     apt-get install --no-install-recommends qemu-system-x86 qemu-utils e2fsprogs cpio
#     apt-get download linux-image-cloud-amd64's image and busybox-static; dpkg-deb -x each into $VM_ROOT
# Where one of them is not there it is skipped (77), with the reason.
set -eu

guest=$1
rounds=${2:-12}
root=${VM_ROOT:-/}
work=$(mktemp -d "${TMPDIR:-/tmp}/tamis-vm-XXXXXX")
machine=
trap 'if [ -n "$machine" ]; then kill -KILL "$machine" 2>/dev/null || true; fi; rm -r "$work"' EXIT

skip() {
    echo "skipped: $1"
    exit 77
}

first() { # FILE...: the first that is there
    for file; do
        if [ -e "$file" ]; then
            echo "$file"
            return
        fi
    done
}

for tool in qemu-system-x86_64 qemu-img mkfs.ext4 cpio; do
    command -v "$tool" >/dev/null || skip "no $tool"
done
kernel=$(first "$root"/boot/vmlinuz-*-amd64)
[ -n "$kernel" ] || skip "no kernel under $root/boot; set VM_ROOT"
busybox=$(first "$root/bin/busybox" "$root/usr/bin/busybox")
[ -n "$busybox" ] || skip "no busybox under $root"
modules=$root/lib/modules/${kernel##*/vmlinuz-}/kernel

# A KVM within a virtual machine may be there and not be able to boot a kernel.
kvm_boots() {
    [ -w /dev/kvm ] || return 1
    timeout 15 qemu-system-x86_64 -accel kvm -m 256 -no-reboot -net none -kernel "$kernel" \
        -append "console=ttyS0 panic=-1" -serial "file:$work/probe" -monitor none -display none \
        </dev/null >/dev/null 2>&1 || true
    grep -q 'Linux version' "$work/probe"
}
accel=tcg
kvm_boots && accel=kvm

# ---- The machine's own file system, in memory -------------------------------------------------------

tree=$work/tree
mkdir -p "$tree/bin" "$tree/proc" "$tree/dev" "$tree/disk" "$tree/modules"
cp "$busybox" "$tree/bin/busybox"
cp "$guest" "$tree/bin/guest"
ldd "$guest" | grep -o '/[^ ]*' | while read -r library; do
    mkdir -p "$tree$(dirname "$library")"
    cp "$library" "$tree$library"
done
order=(virtio virtio_ring virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci virtio_blk crc16 libcrc32c
    crc32c_generic mbcache jbd2 ext4)
for module in "${order[@]}"; do
    found=$(find "$modules" -name "$module.ko" | head -n 1)
    [ -z "$found" ] || cp "$found" "$tree/modules/"
done
cat >"$tree/init" <<INIT
#!/bin/busybox sh
PATH=/bin
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t devtmpfs dev /dev
for module in ${order[*]}; do
    [ ! -e /modules/\$module.ko ] || /bin/busybox insmod /modules/\$module.ko
done
/bin/busybox mount -t ext4 /dev/vda /disk || echo "FAILED mount"
set -- \$(/bin/busybox sed 's/.*told=\\([0-9,]*\\).*/\\1/; s/,/ /g' /proc/cmdline)
/bin/guest /disk/store judge \$1 \$2 \$3 \$4
/bin/guest /disk/store work \$1 \$3 \$4
/bin/busybox poweroff -f
INIT
chmod +x "$tree/init"
(cd "$tree" && find . | cpio -o -H newc --quiet) >"$work/initrd"

# ---- Rounds -----------------------------------------------------------------------------------------

truncate -s 256M "$work/raw"
mkfs.ext4 -q "$work/raw"
qemu-img convert -O qcow2 "$work/raw" "$work/base"

last() { # WORD OTHERWISE: the number of its last whole line
    local number
    number=$(tr -d '\r' <"$work/console" | sed -n "s/^$1 \([0-9][0-9]*\)\$/\1/p" | tail -n 1)
    echo "${number:-$2}"
}

durable=0 plain=0 synced=0 edition=0 judged=0
for round in $(seq 0 "$rounds"); do
    qemu-img create -q -f qcow2 -b "$work/base" -F qcow2 "$work/overlay" >/dev/null
    : >"$work/console"
    qemu-system-x86_64 -accel "$accel" -m 256 -nographic -no-reboot -net none -kernel "$kernel" \
        -initrd "$work/initrd" -append "console=ttyS0 quiet told=$durable,$plain,$synced,$edition" \
        -drive "file=$work/overlay,if=virtio,format=qcow2,cache=writeback" \
        -serial "file:$work/console" -monitor none -display none </dev/null >"$work/qemu" 2>&1 &
    machine=$!
    for _ in $(seq 900); do # until it works, or is not going to
        if grep -q -e '^working' -e FAILED "$work/console" || ! kill -0 "$machine" 2>/dev/null; then break; fi
        sleep 0.1
    done
    sleep "0.$((RANDOM % 10))$((RANDOM % 10))"
    kill -KILL "$machine" 2>/dev/null || true
    wait "$machine" 2>/dev/null || true
    machine=
    if grep -e FAILED -e '^problem' "$work/console" || ! grep -q '^working' "$work/console"; then
        tail -n 20 "$work/console" "$work/qemu"
        echo "round $round: the machine did not do its work"
        exit 1
    fi
    echo "round $round: $(tr -d '\r' <"$work/console" | grep -o 'judged.*' || true)"
    grep -q 'lost durable 0, synced 0, of the list 0,.*problems 0' "$work/console" || exit 1
    if [ "$round" -gt 0 ] && [ "$plain" -gt "$synced" ]; then
        grep -q 'unclean 1' "$work/console" || { echo "round $round: it does not say that it is unclean"; exit 1; }
    fi
    judged=$((judged + durable))
    durable=$(last durable "$durable")
    plain=$(last plain "$plain")
    synced=$(last synced "$synced")
    edition=$(last published "$edition")
    qemu-img commit -q "$work/overlay"
    rm "$work/overlay"
done
echo "power off under $accel $rounds times: $durable durable keys told, asked for $judged times in all, lost 0;" \
    "$plain others, $edition lists; the store opened every time"
