package env

import (
	"strconv"
	"time"

	"github.com/operon-sdk/operon/pkg/diag"
)

// SourceDate returns the time of SOURCE_DATE_EPOCH, seconds since 1970, in UTC. It reports false if the variable is not set.
func (e *Env) SourceDate() (at time.Time, given bool, err error) {
	value := e.Getenv("SOURCE_DATE_EPOCH")
	if value == "" {
		return at, false, nil
	}
	seconds, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return at, true, diag.Findings{{Field: "SOURCE_DATE_EPOCH", Value: value, Problem: "must be a number of seconds since 1970"}}
	}
	return time.Unix(seconds, 0).UTC(), true, nil
}

// Year returns the year of SOURCE_DATE_EPOCH, which replaces YEAR in license headers. It is empty if the variable is not set,
// so that output does not depend on the date.
func (e *Env) Year() string {
	at, given, err := e.SourceDate()
	if !given || err != nil {
		return ""
	}
	return strconv.Itoa(at.Year())
}

// ImageTime returns the time of creation of images: SOURCE_DATE_EPOCH, or the beginning of 1970.
func (e *Env) ImageTime() (time.Time, error) {
	at, given, err := e.SourceDate()
	if !given {
		at = time.Unix(0, 0).UTC()
	}
	return at, err
}
