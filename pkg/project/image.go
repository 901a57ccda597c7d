package project

import (
	"fmt"
	"math"
	"strconv"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/image/reference"
)

// CheckImage validates the image reference in a flag.
func CheckImage(flag, ref string) diag.Findings {
	if err := reference.Check(ref); err != nil {
		return one(flag, ref, err.Error(), reference.Suggest(ref))
	}
	return nil
}

// CheckPort validates --image-container-port, which may be empty.
func CheckPort(port string) diag.Findings {
	if port == "" {
		return nil
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 || port[0] == '+' {
		return one("--image-container-port", port, "must be a number from 1 to 65535", "")
	}
	return nil
}

// CheckRunAsUser validates --run-as-user: a user ID other than root, as restricted pod security requires. It may be empty.
func CheckRunAsUser(user string) diag.Findings {
	const field = "--run-as-user"
	if user == "" {
		return nil
	}
	n, err := strconv.ParseInt(user, 10, 64)
	switch {
	case err != nil || n < 0 || n > math.MaxInt32 || user[0] == '+':
		return one(field, user, fmt.Sprintf("must be a number from 1 to %d", math.MaxInt32), "")
	case n == 0:
		return one(field, user, "must not be root (0): the pod runs under restricted pod security, which demands runAsNonRoot", "")
	}
	return nil
}
