package scorecard

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/operator-framework/api/pkg/apis/scorecard/v1alpha3"
)

// The elements of an xUnit report, with one suite for each test of the configuration.
type (
	xunitReport struct {
		XMLName xml.Name     `xml:"testsuites"`
		Name    string       `xml:"name,attr"`
		Suites  []xunitSuite `xml:"testsuite"`
	}
	xunitSuite struct {
		Name       string          `xml:"name,attr"`
		Tests      int             `xml:"tests,attr"`
		Skipped    int             `xml:"skipped,attr"`
		Failures   int             `xml:"failures,attr"`
		Errors     int             `xml:"errors,attr"`
		Properties []xunitProperty `xml:"properties>property"`
		Cases      []xunitCase     `xml:"testcase"`
	}
	xunitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	xunitCase struct {
		Name   string    `xml:"name,attr"`
		Time   time.Time `xml:"time,attr"`
		Output string    `xml:"system-out"`
		Fault  *xunitFault
	}
	xunitFault struct {
		XMLName xml.Name
		Type    string `xml:"type,attr"`
		Message string `xml:",innerxml"`
	}
)

func writeXUnit(out io.Writer, list v1alpha3.TestList) error {
	report := xunitReport{Name: "scorecard"}
	for i, test := range list.Items {
		report.Suites = append(report.Suites, suite(i, test))
	}
	data, err := xml.MarshalIndent(report, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s\n", data)
	return err
}

func suite(i int, test v1alpha3.Test) xunitSuite {
	name, ok := test.Spec.Labels["test"]
	if !ok {
		name = fmt.Sprintf("testsuite-%03d", i+1)
	}
	s := xunitSuite{Name: name, Properties: []xunitProperty{
		{"spec.image", test.Spec.Image}, {"spec.entrypoint", strings.Join(test.Spec.Entrypoint, " ")}, {"labels.test", name},
	}}
	if phase, ok := test.Spec.Labels["cluster-phase"]; ok {
		s.Properties = append(s.Properties, xunitProperty{"labels.cluster-phase", phase})
	}
	for _, result := range test.Status.Results {
		c := xunitCase{Name: result.Name, Time: result.CreationTimestamp.Time, Output: result.Log}
		kind := ""
		switch result.State {
		case v1alpha3.PassState:
		case v1alpha3.FailState:
			s.Failures++
			kind = "failure"
		default:
			s.Errors++
			kind = "error"
		}
		if kind != "" {
			// Message is inner XML, with unchanged line breaks and quotes.
			escape := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
			c.Fault = &xunitFault{XMLName: xml.Name{Local: kind}, Type: kind, Message: escape.Replace(validXML(strings.Join(result.Errors, "\n")))}
		}
		s.Tests++
		s.Cases = append(s.Cases, c)
	}
	return s
}

// validXML replaces characters that are not valid in XML.
func validXML(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0xFFFE || r == 0xFFFF {
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}
