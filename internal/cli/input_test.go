package cli

import (
	"strings"
	"testing"

	"github.com/proofreel/proofreel/internal/fault"
)

// Every wrong command line exits with 2, says so in one JSON object on stderr,
// names the culprit, hints at the remedy, and does nothing at all.
func TestBadInput(t *testing.T) {
	long := strings.Repeat("x", 4001)
	tests := []struct {
		args string // split at blanks; ␣ stands for one, ∅ for an empty argument
		code fault.Code
		says string // part of the message
	}{
		// commands and arguments
		{"", fault.Usage, "no command"},
		{"∅", fault.Usage, "unexpected argument"},
		{"strat", fault.Usage, "unexpected argument strat"},
		{"Start", fault.Usage, "unexpected argument Start"},
		{"sta", fault.Usage, "unexpected argument sta"},
		{"--output json", fault.Usage, "no command"},
		{"start extra", fault.Usage, "unexpected argument extra"},
		{"start http://user:secret@host/", fault.Usage, "//***@host"},
		{"status a b", fault.Usage, "unexpected argument b"},
		{"list x", fault.Usage, "unexpected argument x"},
		{"step", fault.Usage, "step needs TEXT"},
		{"step two words", fault.Usage, "unexpected argument words"},
		{"step ∅", fault.InvalidValue, "TEXT is empty"},
		{"step ␣␣", fault.InvalidValue, "TEXT is blank"},
		{"step " + long, fault.InvalidValue, "4001 characters"},
		{"step " + strings.Repeat("x", 70000), fault.InvalidValue, "70000 bytes"},
		{"step a\tb", fault.InvalidValue, "control character"},
		{"step a\x00b", fault.InvalidValue, "control character"},
		{"step a\x1b[31mb", fault.InvalidValue, "control character"},
		{"step a\u0085b", fault.InvalidValue, "control character"},
		{"step a\xffb", fault.InvalidValue, "UTF-8"},
		{"result", fault.Usage, "result needs VERDICT"},
		{"result pass", fault.Usage, "result needs TEXT"},
		{"result passed ok", fault.InvalidValue, `VERDICT: "passed"`},
		{"result PASS ok", fault.InvalidValue, `VERDICT: "PASS"`},
		{"discard", fault.Usage, "discard needs ID"},
		{"recover", fault.Usage, "recover needs ID"},
		{"discard ../../etc", fault.InvalidValue, `"../../etc" is no recording id`},
		{"discard .", fault.InvalidValue, "is no recording id"},
		{"status -", fault.InvalidValue, "is no recording id"},
		{"status ∅", fault.InvalidValue, "ID is empty"},
		{"status " + strings.Repeat("a", 65), fault.InvalidValue, "is no recording id"},
		{"stop -- --timeout=3s", fault.Usage, "a flag after --"},
		{"start -- --fps 30", fault.Usage, "a flag after --"},
		{"step -- -- x", fault.Usage, "second --"},
		{"help strat", fault.InvalidValue, `COMMAND: "strat"`},
		{"help supervise", fault.InvalidValue, "is not allowed"},
		{"supervise", fault.Usage, "supervise needs DIR"},
		// flags
		{"--bogus", fault.Usage, "unknown flag --bogus"},
		{"start --bogus", fault.Usage, "unknown flag --bogus"},
		{"start --fp 30", fault.Usage, "unknown flag --fp"},
		{"start --FPS 30", fault.Usage, "unknown flag --FPS"},
		{"start -fps 30", fault.Usage, "unknown flag -f"},
		{"start --no-help", fault.Usage, "unknown flag --no-help"},
		{"stop --fps 30", fault.Usage, "unknown flag --fps"},
		{"--fps 30 start", fault.Usage, "unknown flag --fps"},
		{"start --fps 30 --fps 30", fault.Usage, "--fps is given more than once"},
		{"start --output json --output json", fault.Usage, "--output is given more than once"},
		{"list --help --help", fault.Usage, "--help is given more than once"},
		{"--output json list --output text", fault.Usage, "--output is given more than once"},
		{"--help --version", fault.Usage, "can't be used together"},
		{"list --help=false", fault.Usage, "--help takes no value"},
		{"--version=1", fault.Usage, "--version takes no value"},
		// values
		{"start --fps", fault.Usage, "--fps has no value"},
		{"start --fps --size 640x360", fault.Usage, "--fps has no value"},
		{"start --fps=", fault.InvalidValue, "--fps is empty"},
		{"start --fps ∅", fault.InvalidValue, "--fps is empty"},
		{"start --fps ␣", fault.InvalidValue, "--fps is blank"},
		{"start --fps 0", fault.InvalidValue, `--fps: "0" is out of range`},
		{"start --fps 61", fault.InvalidValue, "out of range"},
		{"start --fps -5", fault.InvalidValue, "out of range"},
		{"start --fps 29.97", fault.InvalidValue, "no whole number"},
		{"start --fps 3e1", fault.InvalidValue, "no whole number"},
		{"start --fps 99999999999999999999", fault.InvalidValue, "out of range"},
		{"start --fps ３０", fault.InvalidValue, "no whole number"},
		{"start --size 1920x", fault.InvalidValue, "no size in pixels"},
		{"start --size 1920X1080", fault.InvalidValue, "no size in pixels"},
		{"start --size 0x0", fault.InvalidValue, "out of range"},
		{"start --size 99999x1", fault.InvalidValue, "out of range"},
		{"start --size 7681x4320", fault.InvalidValue, "out of range"},
		{"start --size -1x5", fault.InvalidValue, "no size in pixels"},
		{"start --size 9999999999999999999x9", fault.InvalidValue, "no size in pixels"},
		{"start --url javascript:alert(1)", fault.InvalidValue, `scheme "javascript"`},
		{"start --url localhost:3000", fault.InvalidValue, `scheme "localhost"`},
		{"start --url example.org", fault.InvalidValue, "no scheme"},
		{"start --url http://", fault.InvalidValue, "no host"},
		{"start --url http://h:99999/", fault.InvalidValue, "port"},
		{"start --url http://a␣b/", fault.InvalidValue, "percent-encoded"},
		{"start --url file://other/x", fault.InvalidValue, "another machine"},
		{"start --url file:x", fault.InvalidValue, "absolute path"},
		{"start --url about:", fault.InvalidValue, "names no page"},
		{"start --url data:text/html,x", fault.InvalidValue, `scheme "data"`},
		{"start --url http://h/" + strings.Repeat("x", 8192), fault.InvalidValue, "8201 characters"},
		{"start --display 0", fault.InvalidValue, "is no display"},
		{"start --display wayland-1", fault.InvalidValue, "X11 on Linux"},
		{"start --display desktop", fault.InvalidValue, "X11 on Linux"},
		{"start --display remote:0", fault.InvalidValue, "is no display"},
		{"start --display :0 --size 640x360", fault.InvalidValue, "--size is for an own display"},
		{"start --display :0 --url http://h/", fault.InvalidValue, "--url is for an own display"},
		{"start --display current --browser chromium", fault.InvalidValue, "--browser is for an own display"},
		{"start --browser none --url http://h/", fault.InvalidValue, "--url needs a browser"},
		{"start --browser firefox", fault.InvalidValue, `"firefox" is not allowed`},
		{"start --cursor yes", fault.InvalidValue, "is not allowed"},
		{"start --engine gdi", fault.InvalidValue, "is not allowed"},
		{"start --rate auto", fault.InvalidValue, "is not allowed"},
		{"start --stills drop", fault.InvalidValue, "is not allowed"},
		{"start --speed 3", fault.InvalidValue, "is not allowed"},
		{"start --position left", fault.InvalidValue, "is not allowed"},
		{"start --output yaml", fault.InvalidValue, "is not allowed"},
		{"start --max-duration 30", fault.InvalidValue, "no duration"},
		{"start --max-duration -5s", fault.InvalidValue, "out of range"},
		{"start --max-duration 0s", fault.InvalidValue, "out of range"},
		{"start --max-duration 25h", fault.InvalidValue, "out of range"},
		{"start --max-duration soon", fault.InvalidValue, "no duration"},
		{"start --startup-timeout 11m", fault.InvalidValue, "out of range"},
		{"start --min-free 200", fault.InvalidValue, "no size"},
		{"start --min-free -1MB", fault.InvalidValue, "out of range"},
		{"start --min-free 1EB", fault.InvalidValue, "no size"},
		{"start --min-free 1B", fault.InvalidValue, "out of range"},
		{"start --until-pid 0", fault.InvalidValue, "out of range"},
		{"start --until-pid self", fault.InvalidValue, "no whole number"},
		{"start --name a/b", fault.InvalidValue, "is no name"},
		{"start --name .hidden", fault.InvalidValue, "is no name"},
		{"start --name " + strings.Repeat("n", 101), fault.InvalidValue, "101 characters"},
		{"start --publish s3://bucket/x", fault.InvalidValue, "--publish"},
		{"start --publish server", fault.InvalidValue, "--publish"},
		{"start --uploads-workspace w", fault.InvalidValue, "--publish uploads.sh only"},
		{"stop --timeout 0s", fault.InvalidValue, "out of range"},
		{"stop --timeout 2h", fault.InvalidValue, "out of range"},
		{"step x --id ../x", fault.InvalidValue, "--id"},
		{"prune", fault.Usage, "prune needs --older-than"},
		{"prune --older-than 7", fault.InvalidValue, "no duration"},
		{"prune --older-than -7d", fault.InvalidValue, "no duration"},
		{"prune --older-than 4000d", fault.InvalidValue, "out of range"},
		{"prune --older-than 7d-1h", fault.InvalidValue, "no duration"},
	}
	for _, tt := range tests {
		args := []string{}
		for _, a := range strings.Split(tt.args, " ") {
			if a != "" {
				args = append(args, strings.NewReplacer("␣", " ", "∅", "").Replace(a))
			}
		}
		name := tt.args
		if len(name) > 60 {
			name = name[:60]
		}
		t.Run(name, func(t *testing.T) {
			b := newBench()
			o := b.run(args...)
			if o.code != fault.ExitUsage || o.out != "" {
				t.Fatalf("exit %d, stdout %q, stderr %q", o.code, o.out, o.err)
			}
			if b.opened != 0 || len(b.calls) != 0 {
				t.Errorf("it had an effect: opened %d times, calls %v", b.opened, b.calls)
			}
			e, _ := oneObject(t, o.err)["error"].(map[string]any)
			message, _ := e["message"].(string)
			hint, _ := e["hint"].(string)
			if e["code"] != string(tt.code) || !strings.Contains(message, tt.says) || hint == "" {
				t.Errorf("got %s\nwant code %s, a message with %q, and a hint", o.err, tt.code, tt.says)
			}
			if strings.Contains(o.err, "secret") || len(o.err) > 1000 {
				t.Errorf("the error shows too much: %.200s", o.err)
			}
		})
	}
	if len(tests) < 100 {
		t.Errorf("%d bad inputs are tried, want at least 100", len(tests))
	}
}

// A variable of the environment is checked like its flag, and is named.
func TestBadEnvironment(t *testing.T) {
	for _, tt := range []struct{ name, value, args string }{
		{"PROOFREEL_OUTPUT", "yaml", "list"},
		{"PROOFREEL_RECORDING", "../x", "status"},
		{"PROOFREEL_RECORDING", "../x", "step x"},
		{"UPLOADS_WORKSPACE", strings.Repeat("w", 201), "start"},
	} {
		b := newBench()
		b.env[tt.name] = tt.value
		o := b.run(strings.Fields(tt.args)...)
		e, _ := oneObject(t, o.err)["error"].(map[string]any)
		if message, _ := e["message"].(string); o.code != 2 || b.opened != 0 || !strings.HasPrefix(message, tt.name) {
			t.Errorf("%s=%s: exit %d, %s", tt.name, tt.value, o.code, o.err)
		}
	}
}
