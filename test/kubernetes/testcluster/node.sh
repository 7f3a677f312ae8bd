# Runs as the first process of the node's own process and mount namespaces: when it is killed, the kernel ends all that the
# node runs and unmounts all that it has mounted. Variables come from node.go.
set -eu

mount --make-rslave /
# The kubelet's mounts must reach containers.
mount --make-rshared /
mount -t proc proc /proc

# Volumes of other programs must stay removable while this node holds a copy of the mount table. Those of the cluster itself are
# unmounted here too when they are there.
sed -n 's/^[^ ]* [^ ]* [^ ]* [^ ]* \([^ ]*\) .* - \(fuse\.ebscope [^ ]*\|[^ ]* \/dev\/loop[0-9]*\) .*/\1/p' /proc/self/mountinfo |
	while read -r dir; do
		case $dir in
		/ | "$MOUNTS"/*) ;;
		*) umount -l "$dir" || true ;;
		esac
	done

# What programs write to fixed places goes with the namespace. Most of it is sockets and locks.
for dir in /run /var/lib /var/log; do
	mount -t tmpfs -o mode=755 tmpfs $dir
done

# The kubelet and the network plugin set kernel parameters. Those are the whole machine's, so they get files to write to.
for parameter in vm/overcommit_memory vm/panic_on_oom kernel/panic kernel/panic_on_oops kernel/keys/root_maxkeys \
	kernel/keys/root_maxbytes net/ipv4/ip_forward; do
	if [ -e /proc/sys/$parameter ]; then
		copy=$DIR/sysctl/$(echo $parameter | tr / -)
		cat /proc/sys/$parameter >"$copy"
		mount --bind "$copy" /proc/sys/$parameter
	fi
done

"$CONTAINERD" --config "$DIR/containerd.toml" &
until "$CTR" --address "$DIR/containerd.sock" version >/dev/null 2>&1; do
	sleep 0.1
done
"$CTR" --address "$DIR/containerd.sock" --namespace k8s.io images import "$IMAGE"

# Not by exec: the shell takes the exit codes of orphans.
"$KUBELET" --config="$DIR/kubelet.yaml" --kubeconfig="$KUBECONFIG" --root-dir="$DIR/kubelet" --cert-dir="$DIR/kubelet-certs" \
	--hostname-override="$NODE" --node-labels="$LABELS"
