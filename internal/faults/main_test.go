package faults

import (
	"testing"

	"github.com/probefleet/probefleet/internal/testfleet"
)

func TestMain(m *testing.M) { testfleet.Main(m) }
