//go:build linux

package testcluster

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Images on every node, without a registry. Their user is root; they work as any other user and with a read-only root too.
const (
	Image      = "docker.io/ebscope/fio:test"   // busybox and this machine's fio
	PlainImage = "docker.io/ebscope/plain:test" // busybox alone
)

// writeImages writes the images as `docker save` would.
func writeImages(ctx context.Context, file string) error {
	var (
		archive   bytes.Buffer
		manifests []map[string]any
	)
	w := tar.NewWriter(&archive)
	for i, image := range []struct {
		name string
		fio  bool
	}{{Image, true}, {PlainImage, false}} {
		layer, err := imageLayer(ctx, image.fio)
		if err != nil {
			return fmt.Errorf("making image %s: %w", image.name, err)
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
		layerFile, configFile := fmt.Sprintf("layer%d.tar", i), fmt.Sprintf("config%d.json", i)
		if err := errors.Join(addFile(w, layerFile, 0o644, layer), addFile(w, configFile, 0o644, config)); err != nil {
			return err
		}
		manifests = append(manifests, map[string]any{"Config": configFile, "RepoTags": []string{image.name}, "Layers": []string{layerFile}})
	}
	manifest, err := json.Marshal(manifests)
	if err != nil {
		return err
	}
	if err := errors.Join(addFile(w, "manifest.json", 0o644, manifest), w.Close()); err != nil {
		return err
	}
	return os.WriteFile(file, archive.Bytes(), 0o644)
}

func imageLayer(ctx context.Context, withFio bool) ([]byte, error) {
	programs, applets, err := imagePrograms(ctx, withFio)
	if err != nil {
		return nil, err
	}
	var layer bytes.Buffer
	w := tar.NewWriter(&layer)
	made := map[string]bool{".": true}
	for _, dir := range []string{"bin", "dev", "etc", "proc", "root", "sys"} {
		if err := addFolder(w, dir, made); err != nil {
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
	for _, applet := range applets {
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: "bin/" + applet, Linkname: "busybox", Mode: 0o777}); err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(programs)) {
		data, err := os.ReadFile(programs[name])
		if err != nil {
			return nil, err
		}
		if err := errors.Join(addFolder(w, path.Dir(name), made), addFile(w, name, 0o755, data)); err != nil {
			return nil, err
		}
	}
	return layer.Bytes(), w.Close()
}

// imagePrograms returns the files of this machine that go into an image, by their names there, and the names under which
// busybox is called.
func imagePrograms(ctx context.Context, withFio bool) (files map[string]string, applets []string, err error) {
	files = map[string]string{}
	programs := map[string]string{"bin/busybox": "busybox"}
	if withFio {
		programs["usr/bin/fio"] = "fio"
	}
	for name, program := range programs {
		if files[name], err = exec.LookPath(program); err != nil {
			return nil, nil, fmt.Errorf("%w; run scripts/install.sh %s", err, program)
		}
		libraries, err := librariesOf(ctx, files[name])
		if err != nil {
			return nil, nil, err
		}
		for _, l := range libraries {
			files[strings.TrimPrefix(l, "/")] = l
		}
	}
	list, err := output(exec.CommandContext(ctx, files["bin/busybox"], "--list"))
	if err != nil {
		return nil, nil, err
	}
	applets = slices.DeleteFunc(strings.Fields(list), func(a string) bool { return a == "busybox" })
	return files, applets, nil
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

// librariesOf returns the paths of the libraries that a program loads, with the loader itself. A static program has none.
func librariesOf(ctx context.Context, program string) ([]string, error) {
	f, err := elf.Open(program)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if !slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }) {
		return nil, nil
	}
	list, err := output(exec.CommandContext(ctx, "ldd", program))
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(strings.Fields(list), func(word string) bool { return !filepath.IsAbs(word) }), nil
}
