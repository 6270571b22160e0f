package seal

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

// Fingerprint is a short text that is the same for the same text and first key. Without
// the key nobody can tell what it was made of, or try guesses (HMAC-SHA-256).
func (b *Box) Fingerprint(text string) string {
	mac := hmac.New(sha256.New, b.keys[0].mac)
	mac.Write([]byte(text))
	return hex.EncodeToString(mac.Sum(nil))
}
