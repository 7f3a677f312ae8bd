package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ebscope/test/fakeaws"
)

// What AWS says becomes a catalog that other commands take.
func TestLimitsUpdate(t *testing.T) {
	server := fakeaws.New()
	defer server.Close()
	dir := t.TempDir()
	file := filepath.Join(dir, "aws.yaml")
	ask := func(environment []string, args ...string) outcome {
		t.Helper()
		cmd := command(t, dir, append([]string{"limits", "update"}, args...)...)
		cmd.Env = append(cmd.Env, environment...)
		return finish(t, cmd, nil)
	}
	good := server.Environment()

	got := ask(good, "--from-aws", "-o", file)
	if got.code != 0 || got.stdout != "" || !strings.Contains(got.stderr, "ap-northeast-2: 4 instance types, prices of 7 volume types") {
		t.Fatalf("exit %d: %s%s", got.code, got.stdout, got.stderr)
	}
	if got := run(t, dir, "limits", "instance", "x9.huge", "--catalog", file); got.code != 0 ||
		!strings.Contains(got.stdout, "160,000 IOPS, 40,000 Mbps") || !strings.Contains(got.stdout, "EC2 API, DescribeInstanceTypes, 20") {
		t.Errorf("x9.huge: exit %d: %s%s", got.code, got.stdout, got.stderr)
	}
	if got := run(t, dir, "limits", "region", "ap-northeast-2", "--catalog", file); !strings.Contains(got.stdout, "0.0456 per MiB/s") ||
		!strings.Contains(got.stdout, "Price List API") {
		t.Errorf("Seoul: %s%s", got.stdout, got.stderr)
	}

	// The file is our own, so it is replaced; gp3 is not whole in us-east-1, which is said.
	got = ask(good, "--from-aws", "--region", "us-east-1", "--instance-types", "m5.xlarge", "-o", file)
	if got.code != 0 || !strings.Contains(got.stderr, "1 instance types, prices of 1 volume types") || !strings.Contains(got.stderr, "gp3") {
		t.Errorf("us-east-1: exit %d: %s", got.code, got.stderr)
	}
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(dir, "mine.yaml")
	if err := os.WriteFile(foreign, []byte("instances: {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name        string
		fault       string
		environment []string
		args        string
		code        int
		want        string
	}{
		{"no source", "", good, "-o aws.yaml", 2, "--from-aws"},
		{"no file", "", good, "--from-aws", 2, "-o FILE"},
		{"another's file", "", good, "--from-aws -o mine.yaml", 4, "not a catalog that update has written"},
		{"no credentials", "", fakeaws.NoCredentials(), "--from-aws -o aws.yaml", 4, "no AWS credentials: set AWS_PROFILE"},
		{"no region", "", append(good, "AWS_REGION="), "--from-aws -o aws.yaml", 2, "no AWS region"},
		{"unknown region", "", good, "--from-aws --region mars-north-1 -o aws.yaml", 2, "no prices for the region mars-north-1"},
		{"unknown type", "", good, "--from-aws --instance-types m5.tiny -o aws.yaml", 2, "no such instance type"},
		{"denied", "UnauthorizedOperation", good, "--from-aws -o aws.yaml", 4, "ec2:DescribeInstanceTypes"},
		{"no such folder", "", good, "--from-aws -o missing/aws.yaml", 2, "missing"},
	} {
		if tt.fault != "" {
			server.Fail(fakeaws.Fault{Service: "ec2", Status: http.StatusForbidden, Code: tt.fault})
		}
		if got := ask(tt.environment, strings.Fields(tt.args)...); got.code != tt.code || !strings.Contains(got.stderr, tt.want) {
			t.Errorf("%s: exit %d, want %d with %q: %s", tt.name, got.code, tt.code, tt.want, got.stderr)
		}
	}
	after, err := os.ReadFile(file)
	if err != nil || string(after) != string(before) {
		t.Errorf("a failed update changed the catalog: %v", err)
	}
}
