package cmd

import (
	"strconv"
	"time"

	"github.com/operon-sdk/operon/pkg/diag"
)

// sourceDate returns the time of SOURCE_DATE_EPOCH, seconds since 1970, in UTC. It reports false if the variable is not set.
func (a *app) sourceDate() (at time.Time, given bool, err error) {
	value := a.Getenv("SOURCE_DATE_EPOCH")
	if value == "" {
		return at, false, nil
	}
	seconds, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return at, true, diag.Findings{{Field: "SOURCE_DATE_EPOCH", Value: value, Problem: "must be a number of seconds since 1970"}}
	}
	return time.Unix(seconds, 0).UTC(), true, nil
}
