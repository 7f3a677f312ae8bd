//go:build linux

package testcluster

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Image is the one image on the node: busybox and this machine's fio, without a registry. Its user is root; it
// works as any other user and with a read-only root too.
const Image = "docker.io/ebscope/fio:test"

// writeImage writes the image as `docker save` would.
func writeImage(ctx context.Context, file string) error {
	layer, err := imageLayer(ctx)
	if err != nil {
		return fmt.Errorf("making image %s: %w", Image, err)
	}
	config, err := json.Marshal(map[string]any{
		"architecture": runtime.GOARCH, "os": "linux",
		// As the sandbox of a pod it has only to stay.
		"config": map[string]any{"Env": []string{"PATH=/usr/bin:/bin:/usr/sbin:/sbin"}, "Cmd": []string{"/bin/sleep", "infinity"}},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{fmt.Sprintf("sha256:%x", sha256.Sum256(layer))}},
	})
	if err != nil {
		return err
	}
	manifest, err := json.Marshal([]map[string]any{{"Config": "config.json", "RepoTags": []string{Image}, "Layers": []string{"layer.tar"}}})
	if err != nil {
		return err
	}
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	for _, f := range []struct {
		name string
		data []byte
	}{{"layer.tar", layer}, {"config.json", config}, {"manifest.json", manifest}} {
		if err := addFile(w, f.name, 0o644, f.data); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(file, archive.Bytes(), 0o644)
}

func imageLayer(ctx context.Context) ([]byte, error) {
	busybox, err := exec.LookPath("busybox")
	if err != nil {
		return nil, fmt.Errorf("%w; run scripts/install.sh busybox", err)
	}
	fio, err := exec.LookPath("fio")
	if err != nil {
		return nil, fmt.Errorf("%w; run scripts/install.sh fio", err)
	}
	libraries, err := librariesOf(ctx, fio)
	if err != nil {
		return nil, err
	}
	// ldd fails on a program that needs none, as a static busybox is.
	if more, err := librariesOf(ctx, busybox); err == nil {
		libraries = append(libraries, more...)
	}
	applets, err := output(exec.CommandContext(ctx, busybox, "--list"))
	if err != nil {
		return nil, err
	}
	var layer bytes.Buffer
	w := tar.NewWriter(&layer)
	made := map[string]bool{".": true, "/": true}
	folder := func(dir string) error { return addFolder(w, dir, made) }
	for _, dir := range []string{"bin", "etc", "proc", "sys", "dev", "root", "usr/bin"} {
		if err := folder(dir); err != nil {
			return nil, err
		}
	}
	if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: "tmp/", Mode: 0o1777}); err != nil {
		return nil, err
	}
	for _, f := range []struct{ name, text string }{
		{"etc/passwd", "root:x:0:0:root:/root:/bin/sh\nfio:x:1000:1000:fio:/tmp:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n"},
		{"etc/group", "root:x:0:\nfio:x:1000:\nnogroup:x:65534:\n"},
	} {
		if err := addFile(w, f.name, 0o644, []byte(f.text)); err != nil {
			return nil, err
		}
	}
	for _, applet := range strings.Fields(applets) {
		link := &tar.Header{Typeflag: tar.TypeSymlink, Name: "bin/" + applet, Linkname: "/bin/busybox", Mode: 0o777}
		if applet == "busybox" {
			continue
		}
		if err := w.WriteHeader(link); err != nil {
			return nil, err
		}
	}
	files := map[string]string{"bin/busybox": busybox, "usr/bin/fio": fio}
	for _, l := range libraries {
		files[strings.TrimPrefix(l, "/")] = l
	}
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		data, err := os.ReadFile(files[name])
		if err != nil {
			return nil, err
		}
		if err := folder(path.Dir(name)); err != nil {
			return nil, err
		}
		if err := addFile(w, name, 0o755, data); err != nil {
			return nil, err
		}
	}
	return layer.Bytes(), w.Close()
}

func addFile(w *tar.Writer, name string, mode int64, data []byte) error {
	if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode, Size: int64(len(data))}); err != nil {
		return err
	}
	_, err := w.Write(data)
	return err
}

// addFolder adds a folder and those above it, each once.
func addFolder(w *tar.Writer, dir string, made map[string]bool) error {
	if made[dir] {
		return nil
	}
	if err := addFolder(w, path.Dir(dir), made); err != nil {
		return err
	}
	made[dir] = true
	return w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir + "/", Mode: 0o755})
}

// librariesOf returns the paths of the libraries that a program loads, with the loader itself.
func librariesOf(ctx context.Context, program string) ([]string, error) {
	list, err := output(exec.CommandContext(ctx, "ldd", program))
	if err != nil {
		return nil, err
	}
	var paths []string
	for line := range strings.Lines(list) {
		for _, word := range strings.Fields(line) {
			if filepath.IsAbs(word) {
				paths = append(paths, word)
			}
		}
	}
	return paths, nil
}
