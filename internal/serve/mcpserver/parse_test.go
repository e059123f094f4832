package mcpserver

import (
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/proofreel/proofreel/internal/fault"
)

func connectLog() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// Wrong arguments must be an error that says what is wrong and how to mend it,
// and must have no effect.
func TestBadInput(t *testing.T) {
	long := strings.Repeat("x", 21)
	tests := []struct{ name, arguments, says, mends string }{
		{"nothing", `{}`, "action is missing", "start, step"},
		{"an unknown action", `{"action":"strat"}`, `action: "strat" is not allowed`, "start, step"},
		{"an unknown argument", `{"action":"start","frames":3}`, `no argument "frames"`, "action, box, recordingId"},
		{"the flag's name", `{"action":"start","max-duration":"3s"}`, `no argument "max-duration"`, "maxDuration"},
		{"a wrong case", `{"Action":"start"}`, `no argument "Action"`, "action,"},
		{"a repeated argument", `{"action":"list","action":"start"}`, `"action" is given more than once`, "once"},
		{"another box", `{"action":"start","box":"ssh agent@host"}`, `box: "ssh agent@host" is not allowed`, "give local"},
		{"another action's argument", `{"action":"step","text":"x","speed":2}`, "action step takes no speed", "action, box, recordingId, text"},
		{"an id for start", `{"action":"start","recordingId":"x"}`, "action start takes no recordingId", "url"},
		{"no text", `{"action":"step"}`, "action step needs text", "What is about"},
		{"no verdict", `{"action":"result","text":"x"}`, "action result needs pass", "Whether"},
		{"a null", `{"action":"start","url":null}`, "url is null", "leave it out"},
		{"a number in quotes", `{"action":"start","speed":"2"}`, "of the wrong type", "whole number"},
		{"a broken number", `{"action":"start","fps":1.5}`, "of the wrong type", "whole number"},
		{"a huge number", `{"action":"start","fps":1e99}`, "of the wrong type", "whole number"},
		{"a verdict in words", `{"action":"result","text":"x","pass":"yes"}`, "of the wrong type", "true or false"},
		{"an object for a text", `{"action":"step","text":{"a":1}}`, "of the wrong type", "a string"},
		{"out of range", `{"action":"start","fps":99}`, `fps: "99" is out of range`, "leave out maxDuration"},
		{"an empty text", `{"action":"step","text":""}`, "text is empty", "Give a value"},
		{"a blank text", `{"action":"step","text":" "}`, "text is empty", "Give a value"},
		{"a long text", `{"action":"step","text":"` + long + `"}`, "21 characters; at most 20", "shorter"},
		{"two lines", `{"action":"step","text":"a\nb"}`, "control character", "one line"},
		{"a terminal's escape", `{"action":"start","name":"\u001b[31m"}`, "control character", "one line"},
		{"a path as id", `{"action":"stop","recordingId":"../../etc"}`, "no recording id", "action start or list"},
		{"an unknown id", `{"action":"status","recordingId":"none"}`, "no recording none", "action list"},
	}
	c := connect(t, nil)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res := c.do(tt.arguments)
			if !res.IsError {
				t.Fatalf("no error: %s", words(res))
			}
			var e struct {
				Error struct {
					Code          fault.Code
					Message, Hint string
				}
			}
			data(t, res, &e)
			if !strings.Contains(e.Error.Message, tt.says) || !strings.Contains(e.Error.Hint, tt.mends) {
				t.Errorf("got %q, hint %q", e.Error.Message, e.Error.Hint)
			}
			if text := words(res); !strings.Contains(text, e.Error.Message) || !strings.Contains(text, e.Error.Hint) {
				t.Errorf("the text lacks it: %s", text)
			}
		})
	}
	if got := c.rec.noted(); got != "" {
		t.Errorf("bad input had an effect: %s", got)
	}
}

// Passwords in addresses must not come back in an error.
func TestErrorsHideSecrets(t *testing.T) {
	c := connect(t, nil)
	if text := words(c.do(`{"action":"start","url":["http://u:secret@h/"]}`)); strings.Contains(text, "secret") {
		t.Error(text)
	}
}

// The command line's own terms mean nothing to a client of the tool.
func TestTerms(t *testing.T) {
	tests := map[string]string{
		"Leave out --max-duration, or --display.":               "Leave out maxDuration, or display.",
		"Start one with: proofreel start":                       "Start one with: action start",
		"Get it with: proofreel recover ID":                     "Get it with: action stop ID",
		"Run proofreel doctor; see --startup-timeout. a--b -- ": "Run proofreel doctor; see --startup-timeout. a--b -- ",
		"Name one with --id.":                                   "Name one with recordingId.",
	}
	for in, want := range tests {
		if got := terms(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// A command line that loses a flag which the tool needs must be noticed at
// once, not by the first client.
func TestMissingFlag(t *testing.T) {
	if _, err := arguments(testFlags()[1:]); err == nil {
		t.Error("no error")
	}
}

// Foreign bytes must give a request or an error of the user's, and what is
// understood must be of the action.
func FuzzParse(f *testing.F) {
	for _, s := range []string{``, `{}`, `null`, `[1]`, `{"action":"start","fps":10,"url":"a b"}`, `{"action":"result","pass":true,"text":"x"}`, `{"action":"list"} {}`, `{"action":"step","text":"\ud800"}`} {
		f.Add([]byte(s))
	}
	args, err := arguments(testFlags())
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := parse(raw, args)
		var own *fault.Error
		if err != nil {
			if !errors.As(err, &own) || own.Hint == "" {
				t.Fatalf("%v is no error for the user", err)
			}
			return
		}
		if r.action != "start" && len(r.flags) > 0 || (r.action == "step" || r.action == "result") != (r.text != "") || !json.Valid(raw) {
			t.Errorf("%+v of %s", r, raw)
		}
	})
}
