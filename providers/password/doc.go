// Package password signs people in with an address and a password.
package password
