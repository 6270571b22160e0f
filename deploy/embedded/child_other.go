//go:build !(linux && amd64)

package embedded

func (c child) run() error { return ErrUnsupported }
