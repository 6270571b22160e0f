//go:build !linux

package service

import "io"

func detachStderr(out io.Writer) io.Writer { return out }
