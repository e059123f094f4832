package mcpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/proofreel/proofreel/internal/fault"
)

// longest is the longest string, in bytes, that is looked at.
const longest = 32 << 10

// request is a call of the tool that has been understood.
type request struct {
	action, recordingID, text string
	pass                      bool
	flags                     []string // start's, each --name=value
}

// parse reads the arguments of a call, or says what is wrong and how to mend
// it. Nothing is done before all of them are known to be right.
func parse(raw json.RawMessage, args []argument) (request, error) {
	given, err := members(raw)
	if err != nil {
		return request{}, err
	}
	values := map[string]string{}
	for _, m := range given {
		if err := checkMember(m, args, values); err != nil {
			return request{}, err
		}
	}
	if values["action"] == "" {
		return request{}, fault.New(fault.Usage, "Use one of: "+strings.Join(actions(), ", ")+".", "action is missing")
	}
	return fill(values, args)
}

// member is one member of a JSON object.
type member struct {
	name  string
	value json.RawMessage
}

// members takes an object apart and refuses repeated names, of which Go would
// take the last.
func members(raw json.RawMessage) ([]member, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, nil
	}
	broken := fault.New(fault.Usage, `Give one object, such as {"action":"list"}.`, "the arguments are no JSON object")
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, broken
	}
	var all []member
	for dec.More() {
		t, err := dec.Token()
		name, ok := t.(string)
		if err != nil || !ok {
			return nil, broken
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, broken
		}
		if slices.ContainsFunc(all, func(m member) bool { return m.name == name }) {
			return nil, fault.New(fault.Usage, "Give it once.", "%s is given more than once", quote(name))
		}
		all = append(all, member{name, value})
	}
	if t, err := dec.Token(); err != nil || t != json.Delim('}') || dec.More() {
		return nil, broken
	}
	return all, nil
}

// checkMember reads one argument into values, as the command line would write
// it.
func checkMember(m member, args []argument, values map[string]string) error {
	i := slices.IndexFunc(args, func(a argument) bool { return a.name == m.name })
	if i < 0 {
		return fault.New(fault.Usage, "Leave it out. The arguments are: "+strings.Join(names(args, ""), ", ")+".", "there is no argument %s", quote(m.name))
	}
	a := args[i]
	v, err := a.read(m.value)
	if err != nil {
		return err
	}
	if a.flag == "" && len(a.allowed) > 0 && !slices.Contains(a.allowed, v) {
		hint := "Use one of: " + strings.Join(a.allowed, ", ") + "."
		if a.name == "box" {
			hint = "Leave box out, or give local: this version films the machine that the server runs on. To film another, run proofreel there."
		}
		return fault.New(fault.InvalidValue, hint, "%s: %s is not allowed", a.name, quote(v))
	}
	values[a.name] = v
	return nil
}

// read reads a value of the argument's type and no other.
func (a argument) read(raw json.RawMessage) (string, error) {
	wrong := func() error {
		if string(raw) == "null" {
			return fault.New(fault.InvalidValue, "Give a value, or leave it out.", "%s is null", a.name)
		}
		article := map[string]string{"string": "a string", "integer": "a whole number, without quotes", "boolean": "true or false, without quotes"}
		return fault.New(fault.InvalidValue, "Give "+a.name+" as "+article[a.kind]+".", "%s: %s is of the wrong type", a.name, quote(string(raw)))
	}
	switch a.kind {
	case "boolean":
		if s := string(raw); s == "true" || s == "false" {
			return s, nil
		}
		return "", wrong()
	case "integer":
		n, err := strconv.Atoi(string(raw))
		if err != nil {
			return "", wrong()
		}
		return strconv.Itoa(n), nil
	}
	var s *string
	if err := json.Unmarshal(raw, &s); err != nil || s == nil {
		return "", wrong()
	}
	return *s, a.checkString(*s)
}

// checkString holds a string to what no argument may be.
func (a argument) checkString(s string) error {
	bad := func(hint, why string) error { return fault.New(fault.InvalidValue, hint, "%s %s", a.name, why) }
	switch n := utf8.RuneCountInString(s); {
	case strings.TrimSpace(s) == "":
		return bad("Give a value, or leave it out.", "is empty")
	case a.most > 0 && n > a.most:
		return bad("Make it shorter.", fmt.Sprintf("has %d characters; at most %d are allowed", n, a.most))
	case len(s) > longest:
		return bad("Make it shorter.", fmt.Sprintf("has %d bytes; at most %d are allowed", len(s), longest))
	case strings.ContainsFunc(s, unicode.IsControl):
		return bad("Write it on one line, without control characters.", "holds a control character")
	}
	return nil
}

// fill makes the request, once every value is known to be of its type, and
// refuses what the action does not take or lacks.
func fill(values map[string]string, args []argument) (request, error) {
	r := request{action: values["action"], recordingID: values["recordingId"], text: values["text"], pass: values["pass"] == "true"}
	for _, a := range args {
		v, given := values[a.name]
		takes := slices.Contains(a.actions, r.action)
		switch {
		case given && !takes:
			return request{}, fault.New(fault.Usage, "Leave "+a.name+" out. Action "+r.action+" takes: "+strings.Join(names(args, r.action), ", ")+".",
				"action %s takes no %s", r.action, a.name)
		case !given && takes && a.needed:
			return request{}, fault.New(fault.Usage, a.name+": "+a.summary, "action %s needs %s", r.action, a.name)
		case given && r.action == "start" && a.flag != "":
			r.flags = append(r.flags, "--"+a.flag+"="+v)
		}
	}
	return r, nil
}

// names lists the arguments that an action takes; of all actions when it is
// empty.
func names(args []argument, action string) []string {
	var all []string
	for _, a := range args {
		if action == "" || slices.Contains(a.actions, action) {
			all = append(all, a.name)
		}
	}
	return all
}

// explain gives an error in the tool's terms.
func explain(err error) *fault.Error {
	e := *fault.As(err)
	e.Message, e.Hint = terms(e.Message), terms(e.Hint)
	if errors.Is(err, errPanic) {
		e.Hint = "The recording goes on; the server's log says more. Please report it."
	}
	return &e
}
