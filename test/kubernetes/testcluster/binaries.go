//go:build linux

package testcluster

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// tool is a module below test/kubernetes/tools, which pins the version of some programs of the cluster.
type tool struct {
	folder   string // its folder, which also names the folder in the cache
	module   string
	packages []string // of the programs; a program has the name of its package's folder, see program
	tags     string
}

const kubernetesModule = "k8s.io/kubernetes"

var tools = []tool{
	{folder: "etcd", module: "go.etcd.io/etcd/server/v3", packages: []string{"go.etcd.io/etcd/server/v3"}},
	{
		folder: "containerd", module: "github.com/containerd/containerd/v2", tags: "no_cri_systemd",
		packages: []string{
			"github.com/containerd/containerd/v2/cmd/containerd",
			"github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2",
			"github.com/containerd/containerd/v2/cmd/ctr",
		},
	},
	{
		folder: "kubernetes", module: kubernetesModule,
		packages: []string{
			kubernetesModule + "/cmd/kube-apiserver",
			kubernetesModule + "/cmd/kube-controller-manager",
			kubernetesModule + "/cmd/kube-scheduler",
			kubernetesModule + "/cmd/kubelet",
			kubernetesModule + "/cmd/kubectl",
		},
	},
}

// simulator is of a cluster whose nodes are simulated.
var simulator = tool{folder: "kwok", module: "sigs.k8s.io/kwok", packages: []string{"sigs.k8s.io/kwok/cmd/kwok"}}

// program returns the name of a package's program. etcd's main is the module's root, whose path ends in its version.
func program(pkg string) string {
	if pkg == "go.etcd.io/etcd/server/v3" {
		return "etcd"
	}
	return filepath.Base(pkg)
}

// Build builds the programs of a cluster that are not in the cache yet and returns where each is. The cache is the folder
// that EBSCOPE_TEST_CACHE names, by default ebscope in the user's own; versions stand side by side in it. An empty cache
// takes many minutes to fill, so progress gets a line before and after each build.
func Build(ctx context.Context, progress io.Writer) (map[string]string, error) {
	return buildTools(ctx, tools, progress)
}

func buildTools(ctx context.Context, tools []tool, progress io.Writer) (map[string]string, error) {
	root, err := repository(ctx)
	if err != nil {
		return nil, err
	}
	cache, err := cacheDir()
	if err != nil {
		return nil, err
	}
	// Two test processes must not build the same at once: one waits and finds it done.
	lock := flock.New(filepath.Join(cache, "lock"))
	if _, err := lock.TryLockContext(ctx, time.Second); err != nil {
		return nil, fmt.Errorf("waiting for %s, which another build holds: %w", lock.Path(), err)
	}
	defer lock.Close()
	programs := map[string]string{}
	for _, t := range tools {
		if err := t.build(ctx, filepath.Join(root, "test/kubernetes/tools", t.folder), cache, programs, progress); err != nil {
			return nil, err
		}
	}
	return programs, nil
}

func (t tool) build(ctx context.Context, module, cache string, programs map[string]string, progress io.Writer) error {
	version, err := output(goCommand(ctx, module, "list", "-m", "-f", "{{.Version}}", t.module))
	if err != nil {
		return err
	}
	dir := filepath.Join(cache, t.folder+"-"+version)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	flags := "-s -w"
	if t.module == kubernetesModule {
		// The API server tells its version to clients, and refuses objects that are newer than itself.
		flags += " -X k8s.io/component-base/version.gitVersion=" + version
	}
	for _, pkg := range t.packages {
		name := program(pkg)
		path := filepath.Join(dir, name)
		programs[name] = path
		if _, err := os.Stat(path); err == nil {
			continue
		}
		fmt.Fprintf(progress, "building %s %s into %s\n", name, version, dir)
		started := time.Now()
		// The final name appears only when the program is complete.
		partial := path + ".partial"
		cmd := goCommand(ctx, module, "build", "-trimpath", "-ldflags", flags, "-tags", t.tags, "-o", partial, pkg)
		if _, err := output(cmd); err != nil {
			return err
		}
		if err := os.Rename(partial, path); err != nil {
			return err
		}
		fmt.Fprintf(progress, "built %s in %v\n", name, time.Since(started).Round(time.Second))
	}
	return nil
}

func cacheDir() (string, error) {
	dir := os.Getenv("EBSCOPE_TEST_CACHE")
	if dir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("%w; set EBSCOPE_TEST_CACHE to a folder that keeps what is built", err)
		}
		dir = filepath.Join(user, "ebscope")
	}
	return dir, os.MkdirAll(dir, 0o755)
}

// repository returns the folder of this project's source.
func repository(ctx context.Context) (string, error) {
	file, err := output(exec.CommandContext(ctx, "go", "env", "GOMOD"))
	if err != nil {
		return "", err
	}
	return filepath.Dir(file), nil
}

func goCommand(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), "CGO_ENABLED=0", "GOFLAGS=-mod=readonly", "GOWORK=off")
	return cmd
}

// output runs a command and returns what it prints. An error has what it said.
func output(cmd *exec.Cmd) (string, error) {
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return string(bytes.TrimSpace(out)), nil
}
