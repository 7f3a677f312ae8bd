package device_test

import (
	"strings"
	"testing"

	"ebscope/internal/device"
)

// The settings of a loop device are those that the test gives it; its file system is mounted as the test says.
func TestStorage(t *testing.T) {
	needs(t, "mkfs.ext4", "mount")
	path, _ := loop(t)
	name := strings.TrimPrefix(path, "/dev/")
	run(t, "sh", "-c", "echo none > /sys/block/"+name+"/queue/scheduler; echo 64 > /sys/block/"+name+"/queue/max_sectors_kb")
	t.Cleanup(func() { run(t, "sh", "-c", "echo 0 > /sys/block/"+name+"/queue/max_sectors_kb") })
	s := device.This().Storage(path)
	if s.Device != name || s.Scheduler != "none" || s.MaxRequestKiB != 64 || s.QueueRequests < 1 || s.FileSystem != "" {
		t.Errorf("the device itself: %+v", s)
	}
	dir := t.TempDir()
	run(t, "mkfs.ext4", "-q", path)
	run(t, "mount", "-o", "noatime,nodev", path, dir)
	t.Cleanup(func() { run(t, "umount", dir) })
	s = device.This().Storage(dir)
	if s.Device != name || s.MaxRequestKiB != 64 || s.FileSystem != "ext4" || s.MountOptions != "noatime,nodev,rw" {
		t.Errorf("its file system: %+v", s)
	}
	if clock := device.This().Clock(); clock == "" {
		t.Error("no clock source")
	}
	if s := device.This().Storage("/no/such/place"); s.Device != "" || s.FileSystem != "" {
		t.Errorf("nothing there: %+v", s)
	}
}
