package pages

import (
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

func TestMain(m *testing.M) { clitest.Main(m) }
