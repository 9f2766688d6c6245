// Package redis is being written.
package redis
