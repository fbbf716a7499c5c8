#!/bin/sh
# Boots a machine of the image below DIRECTORY as far as cloud-init goes, with the user data of SEED/user-data, and then runs its worker as
# systemd would. Everything is in namespaces of its own but the network, and gone when this ends.
# usage: boot-machine.sh DIRECTORY SEED
set -eu
if [ "${3:-}" != inside ]; then
  exec setpriv --pdeathsig KILL unshare --mount --uts --ipc --pid --fork --kill-child sh "$0" "$1" "$2" inside
fi
image=$1/first-boot
seed=$2
mount --make-rprivate /
mkdir -p "$seed/machine"
mount -t tmpfs -o size=1g machine "$seed/machine"
cd "$seed/machine"
mkdir upper work root
mount -t overlay -o "lowerdir=$image,upperdir=$PWD/upper,workdir=$PWD/work" machine root
mount -t proc proc root/proc
mount -t tmpfs run root/run
cp /etc/resolv.conf root/etc/resolv.conf
mkdir -p root/var/lib/cloud/seed/nocloud
cp "$seed/user-data" root/var/lib/cloud/seed/nocloud/user-data
printf 'instance-id: first-boot\n' >root/var/lib/cloud/seed/nocloud/meta-data
# The modules that the user data ask for, in the stages and the order of a real boot. What sets up a whole machine has nothing here to set up.
cat >root/etc/cloud/cloud.cfg.d/99-test.cfg <<'EOF'
datasource_list: [NoCloud]
network: {config: disabled}
cloud_init_modules: [bootcmd, write_files, growpart, resizefs, set_hostname, update_hostname]
cloud_config_modules: [apt_configure, runcmd]
cloud_final_modules: [package_update_upgrade_install, scripts_user]
EOF
for stage in 'init --local' init 'modules --mode=config' 'modules --mode=final'; do
  echo "stage: $stage"
  chroot root cloud-init $stage 2>&1
done
echo "host name: $(hostname)"
chroot root systemctl is-enabled edgeward-worker
start=$(sed -n 's/^ExecStart=//p' root/etc/systemd/system/edgeward-worker.service)
echo "worker: $start"
# As Restart=on-failure does.
until chroot root $start 2>&1; do sleep 1; done
echo 'worker: ended'
