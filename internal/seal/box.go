package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/probefleet/probefleet/internal/secret"
	"github.com/probefleet/probefleet/internal/uptime"
)

// MinKey is the least length of a SECRET_KEY, in bytes.
const MinKey = 16

// Errors of Open.
var (
	ErrUnknownKey = errors.New("the secret was sealed with a SECRET_KEY that this process does not have")
	ErrDamaged    = errors.New("the sealed secret is damaged")
)

const format = "s1" // first word of every sealed text

// Box seals and opens. It is safe for concurrent use.
type Box struct {
	keys []key
}

type key struct {
	id   string // tells keys apart, and nothing about them
	aead cipher.AEAD
	mac  []byte // of fingerprints
}

// New makes a box of the installation's key and, after it, others with which is opened, not
// sealed; an empty one of these is none. A key shorter than MinKey bytes is an error.
func New(secretKey string, others ...string) (*Box, error) {
	b := &Box{}
	others = slices.DeleteFunc(slices.Clone(others), func(text string) bool { return text == "" })
	for _, text := range append([]string{secretKey}, others...) {
		k, err := newKey(text)
		if err != nil {
			return nil, err
		}
		b.keys = append(b.keys, k)
	}
	return b, nil
}

func newKey(text string) (key, error) {
	if len(text) < MinKey {
		return key{}, fmt.Errorf("a SECRET_KEY has at least %d bytes", MinKey)
	}
	derive := func(purpose string, size int) ([]byte, error) {
		return hkdf.Key(sha256.New, []byte(text), nil, "probefleet check secrets: "+purpose, size)
	}
	raw, err := derive("key", 32)
	if err != nil {
		return key{}, fmt.Errorf("derive key: %w", err)
	}
	id, err := derive("name of the key", 6)
	if err != nil {
		return key{}, fmt.Errorf("derive key: %w", err)
	}
	block, err := aes.NewCipher(raw)
	if err != nil {
		return key{}, fmt.Errorf("derive key: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return key{}, fmt.Errorf("derive key: %w", err)
	}
	mac, err := derive("fingerprints", 32)
	if err != nil {
		return key{}, fmt.Errorf("derive key: %w", err)
	}
	return key{id: hex.EncodeToString(id), aead: aead, mac: mac}, nil
}

// Seal encrypts a secret. The same secret gives another text each time.
func (b *Box) Seal(s secret.Text) uptime.Sealed {
	k := b.keys[0]
	sealed := k.aead.Seal(nil, nil, []byte(s.Reveal()), []byte(format+"."+k.id))
	return uptime.Sealed(format + "." + k.id + "." + base64.RawURLEncoding.EncodeToString(sealed))
}

// Open decrypts a sealed secret; of the empty text it gives the zero secret.Text. The error
// is ErrUnknownKey or ErrDamaged, and holds nothing of the secret.
func (b *Box) Open(text uptime.Sealed) (secret.Text, error) {
	if text == "" {
		return secret.Text{}, nil
	}
	head, body, _ := strings.Cut(string(text), ".")
	id, body, found := strings.Cut(body, ".")
	sealed, err := base64.RawURLEncoding.DecodeString(body)
	if head != format || !found || err != nil {
		return secret.Text{}, ErrDamaged
	}
	for _, k := range b.keys {
		if k.id != id {
			continue
		}
		opened, err := k.aead.Open(nil, nil, sealed, []byte(format+"."+k.id))
		if err != nil {
			return secret.Text{}, ErrDamaged
		}
		return secret.New(string(opened)), nil
	}
	return secret.Text{}, ErrUnknownKey
}
