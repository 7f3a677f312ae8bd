//go:build tools

// Package tools pins the csi-resizer that the test cluster is built of.
package tools

import _ "github.com/kubernetes-csi/external-resizer/v2/cmd/csi-resizer"
