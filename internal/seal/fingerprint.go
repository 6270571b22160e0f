package seal

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

// Fingerprint is a short text that is the same for the same text and first key. Without
// the key nobody can tell what it was made of, or try guesses (HMAC-SHA-256).
func (b *Box) Fingerprint(text string) string { return b.keys[0].fingerprint(text) }

// Fingerprints are those of a text with each key, the first key's first.
func (b *Box) Fingerprints(text string) (all []string) {
	for _, k := range b.keys {
		all = append(all, k.fingerprint(text))
	}
	return all
}

func (k key) fingerprint(text string) string {
	mac := hmac.New(sha256.New, k.mac)
	mac.Write([]byte(text))
	return hex.EncodeToString(mac.Sum(nil))
}
