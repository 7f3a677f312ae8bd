//go:build tools

// Package tools pins the etcd that the test cluster is built of.
package tools

import _ "go.etcd.io/etcd/server/v3"
