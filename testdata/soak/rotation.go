package main

import (
	"context"
	"fmt"
	"time"
)

// runRotation replaces the token, whose predecessor is refused at once, and the certificate of the API server, while the operator
// works.
func runRotation(ctx context.Context, e *env) error {
	n, o, err := e.begin(ctx, 20, 8, "before all rotations")
	if err != nil {
		return err
	}
	const rounds = 4
	created := n
	for round := range rounds {
		if err := e.workForLeader(ctx, &created, round); err != nil {
			return err
		}
		sleep(ctx, time.Duration(e.rand.IntN(500))*time.Millisecond)
		what := "new token"
		if round%2 == 0 {
			err = e.rotateToken()
		} else {
			what = "new certificate"
			err = e.gateway.RotateCertificate()
		}
		if err != nil {
			return err
		}
		if err := e.workForLeader(ctx, &created, round+rounds); err != nil {
			return err
		}
		start := time.Now()
		if err := e.verify(ctx, fmt.Sprintf("%s (%d)", what, round), convergence); err != nil {
			return err
		}
		e.detailf("%s: as expected after %.1f s", what, time.Since(start).Seconds())
	}
	refused := e.requests.counted().total(func(k key) bool { return k.code == 401 })
	e.quiet(ctx, "after all rotations", 3*time.Second)
	o.checkExits()
	e.figure("tokens", "New tokens, and requests with an old one", "%d, %d", rounds/2, refused)
	e.figure("certificates", "New certificates of the API server", "%d", rounds/2)
	return nil
}
