package deploy_test

import (
	"testing"

	"github.com/probefleet/probefleet/internal/testbackend"
)

func TestMain(m *testing.M) { testbackend.Main(m) }
