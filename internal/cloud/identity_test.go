package cloud_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"ebscope/internal/cloud"
)

// The service gives its document to who has fetched a token first (IMDSv2).
func TestSelf(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPut && r.URL.Path == "/latest/api/token":
			w.Header().Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", "60")
			_, _ = io.WriteString(w, "token")
		case r.URL.Path == "/latest/dynamic/instance-identity/document" && r.Header.Get("X-Aws-Ec2-Metadata-Token") == "token":
			_, _ = io.WriteString(w, `{"instanceType": "m5.xlarge", "instanceId": "i-0123", "region": "eu-west-1"}`)
		default:
			http.Error(w, "no token", http.StatusUnauthorized)
		}
	}))
	defer service.Close()
	t.Setenv("AWS_EC2_METADATA_DISABLED", "false")
	t.Setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", service.URL)
	got, err := cloud.Self(t.Context())
	if want := (cloud.Identity{InstanceType: "m5.xlarge", InstanceID: "i-0123", Region: "eu-west-1"}); err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
}

// A service that does not answer costs a second, no more.
func TestSelfSlow(t *testing.T) {
	done := make(chan struct{})
	service := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-done }))
	defer service.Close()
	defer close(done)
	t.Setenv("AWS_EC2_METADATA_DISABLED", "false")
	t.Setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", service.URL)
	start := time.Now()
	if got, err := cloud.Self(t.Context()); err == nil {
		t.Errorf("got %+v from a service that says nothing", got)
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
}
