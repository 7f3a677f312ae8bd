//go:build tools

// Package tools pins the kwok that the test cluster's simulated nodes are kept by.
package tools

import _ "sigs.k8s.io/kwok/cmd/kwok"
