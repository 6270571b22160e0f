package session

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"golang.org/x/crypto/argon2"
)

const (
	argonLanes   = 1
	argonSalt    = 16
	argonKey     = 32
	hashPatience = 5 * time.Second
)

// Cost is what a password hash takes, of argon2id.
type Cost struct{ MemoryKiB, Passes uint32 }

// owasp is the least that the OWASP Password Storage Cheat Sheet recommends for argon2id.
func owasp() Cost { return Cost{MemoryKiB: 19 * 1024, Passes: 2} }

// ErrBusy means that too many passwords are being checked at this moment.
var ErrBusy = errors.New("too many sign-ins at this moment")

// Hasher hashes and checks passwords. It bounds how many run at once, so that a
// crowd of sign-ins costs time and not all of the memory.
type Hasher struct {
	slots  chan struct{}
	kept   chan struct{} // one slot more
	extra  chan struct{} // kept, for who may use it; else nil
	cost   Cost
	encode func(password string, salt []byte) string
	decoy  string // checked for unknown accounts, so that they cost the same

	patience time.Duration // with which a slot is waited for
}

// NewHasher allows as many hashes at once as there are cores, and one that is kept for Reserved.
func NewHasher() *Hasher { return NewHasherAt(owasp()) }

// NewHasherAt is NewHasher at another cost, for tests of something else. It reads no hashes of other costs.
func NewHasherAt(cost Cost) *Hasher {
	return &Hasher{
		slots: make(chan struct{}, max(2, runtime.GOMAXPROCS(0))), kept: make(chan struct{}, 1), patience: hashPatience,
		cost: cost, encode: cost.encode, decoy: cost.stored(randomBytes(argonSalt), randomBytes(argonKey)),
	}
}

// Reserved is the same for who is known: when a crowd of strangers takes all the slots, one is left.
func (h *Hasher) Reserved() *Hasher {
	known := *h
	known.extra = h.kept
	return &known
}

// Hash gives the stored form of a password.
func (h *Hasher) Hash(ctx context.Context, password string) (string, error) {
	leave, err := h.enter(ctx)
	if err != nil {
		return "", err
	}
	defer leave()
	return h.encode(password, randomBytes(argonSalt)), nil
}

// Check says whether the password is the one of the stored form. An empty form
// (no such account) takes as long as a real one and is always false.
func (h *Hasher) Check(ctx context.Context, stored, password string) (bool, error) {
	leave, err := h.enter(ctx)
	if err != nil {
		return false, err
	}
	defer leave()
	known := stored != ""
	if !known {
		stored = h.decoy
	}
	salt, err := h.cost.saltOf(stored)
	if err != nil {
		return false, err
	}
	same := subtle.ConstantTimeCompare([]byte(h.encode(password, salt)), []byte(stored)) == 1
	return same && known, nil
}

func (h *Hasher) enter(ctx context.Context) (leave func(), err error) {
	patience := time.NewTimer(h.patience)
	defer patience.Stop()
	select {
	case h.slots <- struct{}{}:
		return func() { <-h.slots }, nil
	case h.extra <- struct{}{}: // never, where there is none
		return func() { <-h.extra }, nil
	case <-patience.C:
		return nil, ErrBusy
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (c Cost) encode(password string, salt []byte) string {
	return c.stored(salt, argon2.IDKey([]byte(password), salt, c.Passes, c.MemoryKiB, argonLanes, argonKey))
}

// stored writes the PHC string; the cost is in it, so that raising it later can tell old hashes apart.
func (c Cost) stored(salt, key []byte) string {
	return c.prefix() + base64.RawStdEncoding.EncodeToString(salt) + "$" + base64.RawStdEncoding.EncodeToString(key)
}

func (c Cost) prefix() string {
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$", argon2.Version, c.MemoryKiB, c.Passes, argonLanes)
}

func (c Cost) saltOf(stored string) ([]byte, error) {
	rest, found := strings.CutPrefix(stored, c.prefix())
	text, _, cut := strings.Cut(rest, "$")
	if !found || !cut {
		return nil, errors.New("read password hash: not an argon2id hash of this cost")
	}
	salt, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("read password hash: %w", err)
	}
	return salt, nil
}

func randomBytes(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails since Go 1.24
	return b
}
