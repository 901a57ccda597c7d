package customresource

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// ReadAnnotation sets a setting to the value of an annotation, if obj has it. The errors of parse describe valid values.
func ReadAnnotation[T any](obj metav1.Object, key string, into *T, parse func(string) (T, error)) error {
	text, ok := obj.GetAnnotations()[key]
	if !ok {
		return nil
	}
	value, err := parse(text)
	if err != nil {
		return fmt.Errorf("annotation %s %q: %w", key, text, err)
	}
	*into = value
	return nil
}

// ReadPeriod is ReadAnnotation for a time between two passes.
func ReadPeriod(obj metav1.Object, key string, into *time.Duration) error {
	return ReadAnnotation(obj, key, into, func(text string) (time.Duration, error) {
		period, err := time.ParseDuration(text)
		if err != nil || period < 0 {
			return 0, errors.New("must be a duration that is not negative, such as 5m")
		}
		return period, nil
	})
}

// ReadBool is ReadAnnotation for a Boolean.
func ReadBool(obj metav1.Object, key string, into *bool) error {
	return ReadAnnotation(obj, key, into, func(text string) (bool, error) {
		value, err := strconv.ParseBool(text)
		if err != nil {
			return false, errors.New("must be true or false")
		}
		return value, nil
	})
}

// ParseNumber parses a number within limits.
func ParseNumber(text string, least, most int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("must be a number from %d to %d", least, most)
	}
	return n, nil
}

// JSONValues returns a copy of values with the types that custom resources have, whatever the types of the caller. The subject
// begins errors.
func JSONValues(subject string, values map[string]any) (map[string]any, error) {
	var result map[string]any
	data, err := json.Marshal(values)
	if err == nil {
		err = utiljson.Unmarshal(data, &result)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", subject, err)
	}
	return result, nil
}
