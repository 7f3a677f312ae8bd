package cloud_test

import (
	"context"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"ebscope/internal/cloud"
	"ebscope/internal/ebs"
	"ebscope/test/fakeaws"
)

// A second opinion on EC2's form: moto, another fake, written by others.
func TestInstancesOfMoto(t *testing.T) {
	path, err := exec.LookPath("moto_server")
	if err != nil {
		t.Skip("moto_server is missing; pip install 'moto[server]' provides it")
	}
	address := start(t, path)
	server := fakeaws.New() // for its environment
	defer server.Close()
	server.URL = "http://" + address
	for key, value := range environment(server) {
		t.Setenv(key, value)
	}
	account, err := cloud.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all, err := account.Instances(t.Context(), "us-east-1", nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 500 {
		t.Errorf("%d instance types", len(all))
	}
	found := map[string]ebs.Instance{}
	for _, i := range all {
		found[i.Type] = i
	}
	for _, name := range []string{"m5.large", "m5.xlarge", "c5.large", "m5.24xlarge", "t3.medium"} {
		want, err := ebs.Embedded().Instance(name)
		if err != nil {
			t.Fatal(err)
		}
		want.Source, want.Date, want.MaximumVolumes = cloud.InstancesSource, "", found[name].MaximumVolumes
		if found[name] != want {
			t.Errorf("moto says %+v, the catalog %+v", found[name], want)
		}
	}
}

// start runs moto on a free port for as long as the test lasts, and returns its address.
func start(t *testing.T, path string) string {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	free.Close()
	ctx, cancel := context.WithCancel(context.Background())
	moto := exec.CommandContext(ctx, path, "-H", host, "-p", port)
	// moto does not start well with the empty variables of our own environment.
	moto.Env = slices.DeleteFunc(os.Environ(), func(e string) bool { return strings.HasPrefix(e, "AWS_") })
	if err := moto.Start(); err != nil {
		cancel()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = moto.Wait() // killed
	})
	for range 300 {
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			return address
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Skip("moto_server does not listen within half a minute; moto_server -p 5000 shows why")
	return ""
}
