package testbackend

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
)

// hashOf is that of the password that a user of a test has.
func hashOf(user string) string {
	sum := sha256.Sum256([]byte(passwordOf(user)))
	return hex.EncodeToString(sum[:])
}

func passwordOf(user string) string { return "the password of " + user }

// as is the address that a user has of a server.
func as(base *url.URL, user, path string) string {
	own := *base
	own.User, own.Path = url.UserPassword(user, passwordOf(user)), path
	return own.String()
}
