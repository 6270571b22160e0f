package session

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
)

// keyPrefix starts every API key we make, so that scanners find leaked ones.
const keyPrefix = "pf_"

// NewToken makes a secret of 256 random bits, for sessions and set-up links.
func NewToken() string { return base64.RawURLEncoding.EncodeToString(randomBytes(32)) }

// NewKey makes an API key.
func NewKey() string { return keyPrefix + NewToken() }

// HashToken is how tokens and keys are stored. They are random and long, so a
// plain hash is enough: there is nothing to guess.
func HashToken(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// Prefix is the part of a key that may be shown to tell keys apart: at most a
// quarter of it, so that a short key given by hand is not given away.
func Prefix(key string) string {
	return key[:min(len(keyPrefix)+6, len(key)/4)]
}
