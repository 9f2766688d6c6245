// Package doctor tries the examination of a configuration on set-ups that are broken in one way each: with a real
// OpenID provider, real stores and a real mail server. What is said of each stands in testdata.
package doctor
