package main

import (
	"fmt"

	"github.com/probefleet/probefleet/internal/service"
)

// versionCommand prints what --version does.
type versionCommand struct{}

func (versionCommand) Run(to console) error {
	_, err := fmt.Fprintln(to.Out, service.Version())
	return err
}
