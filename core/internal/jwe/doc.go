// Package jwe seals and opens the session token and the check cookies: compact JWE (RFC 7516 section 7.1) under a key
// derived from a secret, as Auth.js writes it.
//
//	BASE64URL(header) .. BASE64URL(IV) . BASE64URL(ciphertext) . BASE64URL(tag)
//
// The header is {"alg":"dir","enc":"A256CBC-HS512","kid":"…"}: no encrypted key, the derived key is used directly.
// A256GCM is opened and never written. Keys come from HKDF-SHA256 with the salt in the info as well, so that a token
// made for one cookie name opens under no other.
//
// Open is narrower than RFC 7516 on purpose. What a general library supports beyond these two forms (compression, key
// wrapping, keys by reference, JSON serialisation, base64 with blanks) has been a way in or a way to stall a server
// somewhere, and none of it is needed here. A token has one spelling: two texts never open to the same payload by
// differing in blanks, padding or unused bits.
//
// What the payload says, expiry included, is for the caller to judge.
package jwe
