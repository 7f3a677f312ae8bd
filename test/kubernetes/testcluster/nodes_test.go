//go:build linux

package testcluster

import (
	"context"
	"testing"
	"time"
)

// Two pods that may not share a node run on two, each with a volume of its own. A node that loses power comes back with its
// volumes, and without its pods.
func TestNodes(t *testing.T) {
	c := open(t, 2)
	admin(t, c, "apply", "-f", "testdata/apart.yaml")
	ready := []string{"wait", "--for=condition=Ready", "pod", "--selector=app=apart", "--timeout=60s"}
	admin(t, c, ready...)
	if got := admin(t, c, "get", "pods", "--output=jsonpath={.items[*].spec.nodeName}"); got != NodeName(0)+" "+NodeName(1) && got != NodeName(1)+" "+NodeName(0) {
		t.Errorf("pods are on %q, want one on each node", got)
	}
	for _, pod := range []string{"apart-0", "apart-1"} {
		if got := admin(t, c, "exec", pod, "--", "sh", "-c", "echo $HOSTNAME > /data/name && cat /data/name"); got != pod {
			t.Errorf("%s wrote %q", pod, got)
		}
	}
	if err := c.StopNode(1); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if err := c.StartNode(ctx, 1); err != nil {
		t.Fatal(err)
	}
	// The StatefulSet's pod is restarted in place.
	for _, pod := range []string{"apart-0", "apart-1"} {
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(500 * time.Millisecond) {
			out, err := kubectl(t, c, c.AdminKubeconfig(), "exec", pod, "--", "cat", "/data/name")
			if err == nil && out == pod {
				break
			} else if time.Now().After(deadline) {
				t.Fatalf("%s reads %q after its node came back: %v", pod, out, err)
			}
		}
	}
	if err := c.Close(context.Background()); err != nil {
		t.Error(err)
	}
}
