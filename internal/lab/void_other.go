//go:build !linux

package lab

import (
	"errors"
	"net"
)

var errLinux = errors.New("this needs Linux")

// deserted knows nothing: connections are held until the lab closes.
func deserted(*net.TCPConn) bool { return false }

func openRefused(*Lab, string) (site, error) { return site{}, errLinux }

func openFull(*Lab, string) (site, error) { return site{}, errLinux }
