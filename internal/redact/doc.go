// Package redact leaves out of what people are shown what they must not see: secrets
// that are known, values whose names tell that they are secret, and what URLs carry.
package redact
