package local

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestLogWriterFull(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := &LogWriter{Out: &out, Prefix: "m | "}
	for _, text := range []string{"a", "b\nc\n", "\n", "d"} {
		if n, err := w.Write([]byte(text)); n != len(text) || err != nil {
			t.Errorf("%q: %d, %v", text, n, err)
		}
	}
	if want := "m | ab\nm | c\nm | \n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
	for range 2 {
		w.Flush()
	}
	if want := "m | ab\nm | c\nm | \nm | d\n"; out.String() != want {
		t.Errorf("after the end, got %q, want %q", out.String(), want)
	}
}

// TestLogWriterCompact writes each line in one piece and byte by byte.
func TestLogWriterCompact(t *testing.T) {
	t.Parallel()
	const trace = "main.(*R[...]).Reconcile\n\texample.com/m/r.go:12\nsigs.k8s.io/controller-runtime/pkg.Start.func1\n\tsigs.k8s.io/controller-runtime@v0.25.2/pkg/c.go:315\n"
	const note = "         stack traces are left out; --logs full prints them\n"
	for name, tc := range map[string]struct{ log, want string }{
		"logger":  {"2026-11-23T02:13:11Z\tINFO\tsetup\tStarting the manager\n", "02:13:11 INFO  setup  Starting the manager\n"},
		"message": {"2026-11-23T02:13:11+02:00\tINFO\tStarting the manager\n", "00:13:11 INFO  Starting the manager\n"},
		"fields": {"2026-11-23T02:13:11.123Z\tDEBUG\tevents\tEvent occurred\t" +
			`{"object": {"name":"a","namespace":"b"}, "node": {"name":"n"}, "kind": "Memcached", "n": 1, "list": ["x", 2], "note": "two words", "none": null}` + "\n",
			`02:13:11 DEBUG events  Event occurred object=b/a node=n kind=Memcached n=1 list=["x", 2] note="two words" none=null` + "\n"},
		"controller": {"2026-11-23T02:13:11Z\tINFO\tReconciling\t" +
			`{"controller": "memcached", "controllerGroup": "cache.example.com", "controllerKind": "Memcached", "Memcached": {"name":"a","namespace":"b"}, "namespace": "b", "name": "a", "reconcileID": "1-2", "size": 3}` + "\n",
			"02:13:11 INFO  memcached  Reconciling Memcached=b/a size=3\n"},
		"Ansible": {`{"level":"info","ts":"2026-11-23T02:13:11Z","logger":"runner","msg":"task started","kind":"Site","namespace":"b","name":"a","job":"x1","task":"site : Run it","role":"site"}` + "\n" +
			`{"level":"info","ts":"2026-11-23T02:13:11Z","logger":"runner","msg":"task failed","kind":"Zone","namespace":"","name":"a","job":"x1","task":"Run it","role":"zone"}` + "\n",
			"02:13:11 INFO  runner  task started Site=b/a task=\"site : Run it\"\n02:13:11 INFO  runner  task failed Zone=a task=\"Run it\" role=zone\n"},
		"own name":    {`{"level":"info","ts":"2026-11-23T02:13:11Z","msg":"hello","name":"a","reconcileID":"r"}` + "\n", "02:13:11 INFO  hello name=a reconcileID=r\n"},
		"JSON":        {`{"level":"warn","ts":1795400000.5,"logger":"a.b","caller":"m.go:1","msg":"x\ty\u001b[2J"}` + "\n", `02:13:20 WARN  a.b  x\ty\x1b[2J caller=m.go:1` + "\n"},
		"JSON error":  {`{"level":"error","ts":"2026-11-23T02:13:11Z","msg":"m","error":"a: \"b\"","errorVerbose":"a\nmain.f","stacktrace":"main.f\n\tm.go:1"}` + "\n", `02:13:11 ERROR m error="a: \"b\""` + "\n" + note},
		"verbosity":   {`{"level":"Level(-5)","ts":"2026-11-23T02:13:11Z","msg":"m"}` + "\n", "02:13:11 DEBUG m\n"},
		"source line": {"2026-11-23T02:13:11Z\t\x1b[34mINFO\x1b[0m\tsetup\tcmd/main.go:7\tm\n", "02:13:11 INFO  setup  m caller=cmd/main.go:7\n"},
		"trace": {strings.Repeat("2026-11-23T02:13:11Z\tERROR\tm\t{\"error\": \"e\"}\n"+trace, 2) + "done\n",
			"02:13:11 ERROR m error=e\n" + note + "02:13:11 ERROR m error=e\nm | done\n"},
		"no trace":    {"2026-11-23T02:13:11Z\tERROR\tm\nmain.go\nnext\n", "02:13:11 ERROR m\nm | main.go\nm | next\n"},
		"half trace":  {"2026-11-23T02:13:11Z\tERROR\tm\nmain.f", "02:13:11 ERROR m\nm | main.f\n"},
		"trace alone": {trace[:24] + "\n", "m | " + trace[:24] + "\n"},
		"after INFO":  {"2026-11-23T02:13:11Z\tINFO\tm\nmain.f\n\tm.go:1\n", "02:13:11 INFO  m\nm | main.f\nm | \tm.go:1\n"},
		"other lines": {"panic: x\n\ngoroutine 1 [running]:\nmain.main()\n", "m | panic: x\nm | \nm | goroutine 1 [running]:\nm | main.main()\n"},
		"no entry":    {"{\n{}\n{\"msg\":\"a\"} b\n1\tINFO\tm\n2026-11-23T02:13:11Z\tNOISE\tm\na\tb\n", "m | {\nm | {}\nm | {\"msg\":\"a\"} b\nm | 1\tINFO\tm\nm | 2026-11-23T02:13:11Z\tNOISE\tm\nm | a\tb\n"},
		"routine": {"2026-11-23T02:13:11Z\tINFO\tStarting EventSource\t{\"controller\": \"a\"}\n2026-11-23T02:13:11Z\tINFO\tcontroller-runtime.webhook\tRegistering webhook\t{\"path\": \"/m\"}\n" +
			"2026-11-23T02:13:11Z\tINFO\tStarting workers\t{\"controller\": \"a\", \"worker count\": 1}\n2026-11-23T02:13:11Z\tERROR\tstarting server\t{}\n",
			"         messages about each part that starts or stops are left out; --logs full prints them\n02:13:11 INFO  a  Starting workers worker count=1\n02:13:11 ERROR starting server\n"},
		"no end": {"2026-11-23T02:13:11Z\tINFO\tm", "02:13:11 INFO  m\n"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, size := range []int{len(tc.log), 1} {
				var out bytes.Buffer
				w := &LogWriter{Out: &out, Prefix: "m | ", Compact: true}
				for log := tc.log; log != ""; log = log[size:] {
					if _, err := w.Write([]byte(log[:size])); err != nil {
						t.Error(err)
					}
				}
				w.Flush()
				if out.String() != tc.want {
					t.Errorf("in pieces of %d, got\n%q, want\n%q", size, out.String(), tc.want)
				}
			}
		})
	}
}

func TestLogWriterColors(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := &LogWriter{Out: &out, Compact: true, Color: true, Location: time.FixedZone("", 3600)}
	if _, err := w.Write([]byte("2026-11-23T02:13:11Z\tERROR\tm\t{\"error\": \"e\", \"a\": 1}\n")); err != nil {
		t.Error(err)
	}
	want := "\x1b[2m03:13:11\x1b[0m \x1b[31mERROR\x1b[0m m \x1b[2merror=\x1b[0m\x1b[31me\x1b[0m \x1b[2ma=\x1b[0m1\n"
	if out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

// TestLogWriterLongLine checks that an endless line passes as it comes.
func TestLogWriterLongLine(t *testing.T) {
	t.Parallel()
	for _, compact := range []bool{false, true} {
		var out bytes.Buffer
		w := &LogWriter{Out: &out, Prefix: "m | ", Compact: compact}
		part := strings.Repeat("x", 1<<10)
		for i := range 1 << 10 {
			if _, err := w.Write([]byte(part)); err != nil {
				t.Fatal(err)
			}
			if held := (i+1)<<10 - out.Len(); held > maxLogLine || cap(w.line) > 4*maxLogLine {
				t.Fatalf("%d bytes are held back in a buffer of %d", held, cap(w.line))
			}
		}
		if _, err := w.Write([]byte("y\nz")); err != nil {
			t.Fatal(err)
		}
		w.Flush()
		if want := "m | " + strings.Repeat(part, 1<<10) + "y\nm | z\n"; out.String() != want {
			t.Errorf("compact %t: got %d bytes that end in %q", compact, out.Len(), out.String()[max(0, out.Len()-20):])
		}
	}
}

// TestLogWriterFailed checks which lines are errors.
func TestLogWriterFailed(t *testing.T) {
	t.Parallel()
	var got []string
	w := &LogWriter{Out: io.Discard, Failed: func(object, message, cause string) { got = append(got, object+"|"+message+"|"+cause) }}
	for _, line := range []string{
		"2026-11-23T02:13:11Z\tINFO\tsetup\tStarting\t{\"error\": \"none\"}",
		"2026-11-23T02:13:11Z\tERROR\tReconciler error\t{\"controller\": \"a\", \"controllerKind\": \"A\", \"namespace\": \"b\", \"name\": \"c\", \"error\": \"no disk\"}",
		`{"level":"error","ts":"2026-11-23T02:13:11Z","msg":"Observed a panic","panic":"nil map","panicGoValue":"x"}`,
		`{"level":"warn","ts":"2026-11-23T02:13:11Z","msg":"slow"}`,
		"ERROR: of another logger",
		`E1123 02:13:11.123456   12345 reflector.go:204] "Failed to watch" err="no \"pods\"" logger="UnhandledError"`,
		"E1123 02:13:11.123456       1 wait.go:10] timed out",
		`I1123 02:13:11.123456       1 wait.go:10] "waits" err="none"`,
	} {
		if _, err := io.WriteString(w, line+"\r\n"); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"a b/c|Reconciler error|no disk", "|Observed a panic|nil map", `|Failed to watch|no "pods"`, "|timed out|"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
