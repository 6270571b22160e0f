//go:build !linux

package spool

// memoryKind knows no file systems in memory here: only temporary folders are refused.
func memoryKind(string) (string, error) { return "", nil }
