//go:build linux

package testcluster

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// auditPolicy records what users ask that a test gives rights, and not the cluster's own parts.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
  - {level: None, users: ["` + administrator + `", "system:apiserver", "system:anonymous"]}
  - {level: None, nonResourceURLs: ["*"]}
  - {level: Metadata}
`

func (c *Cluster) auditLog() string { return filepath.Join(c.Logs(), "audit.log") }

// Request is what a user asked of the API server.
type Request struct {
	Verb, Group, Resource, Namespace, Name string
	Code                                   int // of HTTP
}

// Requests returns what a user has asked of the API server, but for its kinds and its health. The administrator's is not recorded.
func (c *Cluster) Requests(user string) ([]Request, error) {
	if c.External() {
		return nil, errExternal
	}
	text, err := os.ReadFile(c.auditLog())
	if err != nil {
		return nil, err
	}
	var all []Request
	for line := range bytes.Lines(text) {
		var event struct {
			Verb      string
			User      struct{ Username string }
			ObjectRef struct {
				Resource, Subresource, Namespace, Name string
				APIGroup                               string
			}
			ResponseStatus struct{ Code int }
		}
		if err := json.Unmarshal(line, &event); err != nil {
			return nil, fmt.Errorf("%s: %w", c.auditLog(), err)
		}
		if event.User.Username != user {
			continue
		}
		o := event.ObjectRef
		if o.Subresource != "" {
			o.Resource += "/" + o.Subresource
		}
		all = append(all, Request{event.Verb, o.APIGroup, o.Resource, o.Namespace, o.Name, event.ResponseStatus.Code})
	}
	return all, nil
}
