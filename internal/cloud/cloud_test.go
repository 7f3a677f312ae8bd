package cloud_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ebscope/internal/cloud"
	"ebscope/internal/ebs"
	"ebscope/internal/units"
	"ebscope/test/fakeaws"
)

func TestMain(m *testing.M) {
	// Whatever the machine has, no test finds real credentials or asks for them.
	for _, e := range fakeaws.NoCredentials() {
		key, value, _ := strings.Cut(e, "=")
		os.Setenv(key, value)
	}
	os.Exit(m.Run())
}

// open starts a fake and opens an account in it.
func open(t *testing.T) (cloud.Account, *fakeaws.Server) {
	t.Helper()
	server := fakeaws.New()
	t.Cleanup(server.Close)
	for key, value := range environment(server) {
		t.Setenv(key, value)
	}
	account, err := cloud.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return account, server
}

func environment(server *fakeaws.Server) map[string]string {
	all := map[string]string{}
	for _, e := range server.Environment() {
		key, value, _ := strings.Cut(e, "=")
		all[key] = value
	}
	return all
}

// instance is written as AWS states its limits: Mbps are decimal megabits, so 1,150 are 143.75 MB/s.
func instance(name, hypervisor string, baseMbps, maxMbps units.Throughput, baseIOPS, maxIOPS units.IOPS, volumes int) ebs.Instance {
	return ebs.Instance{Type: name, BaselineIOPS: baseIOPS, MaximumIOPS: maxIOPS,
		BaselineThroughput: baseMbps * units.MegabitPerSecond, MaximumThroughput: maxMbps * units.MegabitPerSecond,
		Hypervisor: hypervisor, MaximumVolumes: volumes, Source: cloud.InstancesSource}
}

func TestInstances(t *testing.T) {
	account, server := open(t)
	got, err := account.Instances(t.Context(), "ap-northeast-2", nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []ebs.Instance{ // t1.micro has no optimized EBS
		instance("m5.xlarge", "nitro", 1150, 4750, 6000, 18750, 27),
		instance("m5.24xlarge", "nitro", 19000, 19000, 80000, 80000, 27),
		instance("m5.metal", "", 19000, 19000, 80000, 80000, 31),
		instance("x9.huge", "nitro", 40000, 60000, 160000, 240000, 0),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if n := server.Requests("ec2"); n != 3 {
		t.Errorf("%d requests for 5 types in pages of 2, want 3", n)
	}
	named, err := account.Instances(t.Context(), "ap-northeast-2", []string{"x9.huge"})
	if err != nil || len(named) != 1 || named[0] != want[3] {
		t.Errorf("x9.huge alone: %+v, %v", named, err)
	}
}

// The fake lists Seoul as it is in the shipped catalog, so reading it gives that again: prefixes are taken off, GiB/s
// become MiB/s, tiers are in order, and snapshots and Outposts left out.
func TestPrices(t *testing.T) {
	account, server := open(t)
	got, incomplete, err := account.Prices(t.Context(), ebs.Embedded(), "ap-northeast-2")
	if err != nil {
		t.Fatal(err)
	}
	want, err := ebs.Embedded().Prices("ap-northeast-2")
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range want.Volumes {
		p.Source, p.Date = cloud.PricesSource, ""
		want.Volumes[name] = p
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(sameToTheTenthDigit)); diff != "" {
		t.Error(diff)
	}
	if len(incomplete) > 0 {
		t.Errorf("not whole: %v", incomplete)
	}
	if n := server.Requests("pricing"); n != 9 {
		t.Errorf("%d requests for 9, 6 and 1 products in pages of 2, want 5 + 3 + 1", n)
	}
}

func sameToTheTenthDigit(a, b units.USD) bool { return max(a-b, b-a) <= 1e-10*max(a, b) }

// In us-east-1 usage types have no prefix. A type that is charged by something without a price is not priced by the rest.
func TestPricesThatAreNotWhole(t *testing.T) {
	account, _ := open(t)
	got, incomplete, err := account.Prices(t.Context(), ebs.Embedded(), "us-east-1")
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Volumes) != 1 || got.Volumes[ebs.GP2].PerGiB != 0.1 || got.Location != "US East (N. Virginia)" {
		t.Errorf("got %+v", got)
	}
	if diff := cmp.Diff([]ebs.Type{ebs.GP3}, incomplete); diff != "" {
		t.Errorf("incomplete: %s", diff)
	}
}

// A price that is not what it seems is an error, never a number.
func TestStrangePrices(t *testing.T) {
	for want, change := range map[string]func(*fakeaws.Product){
		`by "GiB-h", not by GB-Mo`: func(p *fakeaws.Product) { p.Unit = "GiB-h" },
		"no price in USD":          func(p *fakeaws.Product) { p.Currency = "CNY" },
		`price is "0.0000000000"`:  func(p *fakeaws.Product) { p.Price = "0.0000000000" },
		`price is "-1"`:            func(p *fakeaws.Product) { p.Price = "-1" },
		`price is "NaN"`:           func(p *fakeaws.Product) { p.Price = "NaN" },
		`price is "free"`:          func(p *fakeaws.Product) { p.Price = "free" },
		"has two prices":           func(p *fakeaws.Product) { p.UsageType = "APN2-EBS:VolumeUsage.gp3" },
	} {
		account, server := open(t)
		change(&server.Products[1]) // gp2 in Seoul
		_, _, err := account.Prices(t.Context(), ebs.Embedded(), "ap-northeast-2")
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "ap-northeast-2") {
			t.Errorf("error %v, want one that says %q", err, want)
		}
	}
}

func TestThrottledOnce(t *testing.T) {
	account, server := open(t)
	server.Fail(fakeaws.Fault{Service: "ec2", Status: http.StatusServiceUnavailable, Code: "RequestLimitExceeded"},
		fakeaws.Fault{Service: "pricing", Status: http.StatusBadRequest, Code: "ThrottlingException"})
	if got, err := account.Instances(t.Context(), "ap-northeast-2", nil); err != nil || len(got) != 4 {
		t.Errorf("%d instance types, %v", len(got), err)
	}
	if got, _, err := account.Prices(t.Context(), ebs.Embedded(), "ap-northeast-2"); err != nil || len(got.Volumes) != 7 {
		t.Errorf("%d prices, %v", len(got.Volumes), err)
	}
	if n := server.Requests("ec2"); n != 4 {
		t.Errorf("%d requests, want the one that was throttled and 3", n)
	}
}

func TestErrorsHaveAMeaning(t *testing.T) {
	for _, tt := range []struct {
		fault fakeaws.Fault
		want  error
	}{
		{fakeaws.Fault{Service: "ec2", Status: 403, Code: "UnauthorizedOperation"}, cloud.ErrDenied},
		{fakeaws.Fault{Service: "ec2", Status: 401, Code: "AuthFailure"}, cloud.ErrInvalid},
		{fakeaws.Fault{Service: "ec2", Status: 400, Code: "RequestExpired"}, cloud.ErrInvalid},
		{fakeaws.Fault{Service: "pricing", Status: 400, Code: "AccessDeniedException"}, cloud.ErrDenied},
		{fakeaws.Fault{Service: "pricing", Status: 400, Code: "ExpiredTokenException"}, cloud.ErrInvalid},
		{fakeaws.Fault{Service: "pricing", Status: 400, Code: "UnrecognizedClientException"}, cloud.ErrInvalid},
	} {
		account, server := open(t)
		server.Fail(tt.fault)
		_, err := account.Instances(t.Context(), "ap-northeast-2", nil)
		if tt.fault.Service == "pricing" {
			_, _, err = account.Prices(t.Context(), ebs.Embedded(), "ap-northeast-2")
		}
		if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.fault.Code) || !strings.Contains(err.Error(), "ap-northeast-2") {
			t.Errorf("%s: %v, want %v", tt.fault.Code, err, tt.want)
		}
	}
	account, server := open(t)
	if _, err := account.Instances(t.Context(), "ap-northeast-2", []string{"m5.tiny"}); !errors.Is(err, cloud.ErrUnknownType) {
		t.Errorf("m5.tiny: %v", err)
	}
	if _, _, err := account.Prices(t.Context(), ebs.Embedded(), "mars-north-1"); !errors.Is(err, cloud.ErrUnknownRegion) {
		t.Errorf("mars-north-1: %v", err)
	}
	server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if _, err := account.Instances(ctx, "ap-northeast-2", nil); !errors.Is(err, cloud.ErrUnreachable) {
		t.Errorf("nobody there: %v", err)
	}
}

func TestAlwaysThrottled(t *testing.T) {
	account, server := open(t)
	for range 10 {
		server.Fail(fakeaws.Fault{Service: "ec2", Status: http.StatusServiceUnavailable, Code: "RequestLimitExceeded"})
	}
	if _, err := account.Instances(t.Context(), "ap-northeast-2", nil); !errors.Is(err, cloud.ErrThrottled) {
		t.Errorf("error %v, want %v", err, cloud.ErrThrottled)
	}
}

func TestInterrupted(t *testing.T) {
	account, _ := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := account.Instances(ctx, "ap-northeast-2", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that it was cancelled", err)
	}
}

func TestNoCredentials(t *testing.T) {
	if _, err := cloud.Open(t.Context()); !errors.Is(err, cloud.ErrNoCredentials) {
		t.Errorf("error %v, want %v", err, cloud.ErrNoCredentials)
	}
}
