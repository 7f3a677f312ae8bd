package emulate_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ebscope/internal/emulate"
)

const nobody = 65534

// plant makes a volume's directory as a killed process leaves it, with a record that names a temporary image.
func plant(t *testing.T, base, name, image string) (dir string) {
	t.Helper()
	dir = filepath.Join(base, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	record := fmt.Sprintf(`{"name":"gp2","image":%q,"temporary_image":true}`, image)
	if err := os.WriteFile(filepath.Join(dir, "record.json"), []byte(record), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func newFile(t *testing.T, name string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte("data"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// Records that somebody else can have planted are not followed.
func TestSweepTrustsOnlyItsOwnDirectories(t *testing.T) {
	for name, tt := range map[string]struct {
		tamper func(base, place string) error
		want   string
		root   bool
	}{
		"others may write into the base": {
			tamper: func(base, _ string) error { return os.Chmod(base, 0o777) }, want: "others may write",
		},
		"a group may write into the base": {
			tamper: func(base, _ string) error { return os.Chmod(base, 0o770) }, want: "others may write",
		},
		"others may write into the place": {
			tamper: func(_, place string) error { return os.Chmod(place, 0o707) }, want: "others may write",
		},
		"the base belongs to another user": {
			tamper: func(base, _ string) error { return os.Chown(base, nobody, nobody) }, want: "another user", root: true,
		},
		"the place belongs to another user": {
			tamper: func(_, place string) error { return os.Chown(place, nobody, nobody) }, want: "another user", root: true,
		},
		"the base is a link": {
			tamper: func(base, _ string) error {
				if err := os.Rename(base, base+".real"); err != nil {
					return err
				}
				return os.Symlink(base+".real", base)
			}, want: "not a directory",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.root {
				needsRoot(t)
			}
			base := filepath.Join(t.TempDir(), "runtime")
			t.Setenv(runtimeVariable, base)
			image := newFile(t, "ebscope-1.img")
			place := plant(t, base, "gp2-1", image)
			if err := tt.tamper(base, place); err != nil {
				t.Fatal(err)
			}
			removed, err := emulate.Sweep(t.Context())
			if err == nil || !strings.Contains(err.Error(), tt.want) || len(removed) > 0 {
				t.Errorf("removed %v, %v; want nothing, and an error with %q", removed, err, tt.want)
			}
			if !exists(image) || !exists(filepath.Join(place, "record.json")) {
				t.Error("the planted record was followed")
			}
		})
	}
}

func TestAttachRefusesADirectoryOfOthers(t *testing.T) {
	base := filepath.Join(t.TempDir(), "runtime")
	t.Setenv(runtimeVariable, base)
	if err := os.Mkdir(base, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(base, 0o777); err != nil {
		t.Fatal(err)
	}
	d, err := emulate.Attach(t.Context(), emulate.Config{Name: "gp2", Volume: gp2, FileOnly: true})
	if err == nil {
		d.Close(t.Context())
	}
	if err == nil || !strings.Contains(err.Error(), runtimeVariable) {
		t.Errorf("got %v, want an error that says which variable to set", err)
	}
}

// Only what has the form of a temporary image, and is this user's, is deleted.
func TestSweepDeletesOnlyTemporaryImages(t *testing.T) {
	base := records(t)
	temporary, other, link := newFile(t, "ebscope-1.img"), newFile(t, "thesis"), filepath.Join(t.TempDir(), "ebscope-3.img")
	if err := os.Symlink(other, link); err != nil {
		t.Fatal(err)
	}
	for i, image := range []string{temporary, other, link} {
		plant(t, base, fmt.Sprintf("gp2-%d", i), image)
	}
	want := []string{"image " + temporary}
	keep := []string{other, link}
	if os.Geteuid() == 0 {
		foreign := newFile(t, "ebscope-4.img")
		if err := os.Chown(foreign, nobody, nobody); err != nil {
			t.Fatal(err)
		}
		plant(t, base, "gp2-4", foreign)
		keep = append(keep, foreign)
	}
	removed, err := emulate.Sweep(t.Context())
	for _, line := range want {
		if !strings.Contains(strings.Join(removed, "\n"), line) {
			t.Errorf("removed %q, want %q among it", removed, line)
		}
	}
	for _, path := range keep {
		if !exists(path) {
			t.Errorf("%s is gone", path)
		}
		if err == nil || !strings.Contains(err.Error(), path+" is not a temporary image") {
			t.Errorf("got %v, want an error that names %s", err, path)
		}
	}
	if exists(temporary) {
		t.Error("the temporary image is still there")
	}
}

// What cannot be understood is reported and left alone; everything else is swept, and volumes can be attached.
func TestSweepSkipsWhatItDoesNotUnderstand(t *testing.T) {
	base := records(t)
	image := newFile(t, "ebscope-1.img")
	plant(t, base, "gp2-1", image)
	junk := filepath.Join(base, "junk")
	if err := os.MkdirAll(filepath.Join(junk, "mount"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, record := range map[string]string{"gp2-2": `{"name":"gp`, "gp2-3": `{}`, "gp2-4": `{"name":"gp3"}`, "gp2-5": `{"name":"../gp2"}`} {
		place := plant(t, base, name, "")
		if err := os.WriteFile(filepath.Join(place, "record.json"), []byte(record), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { os.RemoveAll(base) })

	removed, err := emulate.Sweep(t.Context())
	if got, want := strings.Join(removed, "\n"), "image "+image+"\nrecord "+base+"/gp2-1"; got != want {
		t.Errorf("removed\n%s\nwant\n%s", got, want)
	}
	if err == nil {
		t.Fatal("no error")
	}
	for _, name := range []string{"junk", "gp2-2", "gp2-3", "gp2-4", "gp2-5"} {
		if !strings.Contains(err.Error(), filepath.Join(base, name)) {
			t.Errorf("%q does not name %s", err, name)
		}
		if !exists(filepath.Join(base, name)) {
			t.Errorf("%s is gone", name)
		}
	}
	if !exists(filepath.Join(junk, "mount")) {
		t.Error("the foreign directory was emptied")
	}
	attach(t, emulate.Config{Volume: gp2, FileOnly: true})
}
