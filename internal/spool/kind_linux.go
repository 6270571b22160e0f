package spool

import (
	"io/fs"
	"syscall"
)

// memoryKind names the file system that path is on when it lives in memory only.
func memoryKind(path string) (string, error) {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(path, &stat); err != nil {
		return "", &fs.PathError{Op: "statfs", Path: path, Err: err}
	}
	switch uint32(stat.Type) {
	case 0x01021994:
		return "tmpfs", nil
	case 0x858458f6:
		return "ramfs", nil
	}
	return "", nil
}
