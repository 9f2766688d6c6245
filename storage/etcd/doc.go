// Package etcd is being written.
package etcd
