// Package doctor tests the doctor on configurations with one problem each, with a real OpenID provider, real stores and
// a real mail server. testdata contains the expected findings.
package doctor
