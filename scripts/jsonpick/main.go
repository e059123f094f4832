// Command jsonpick prints one value of a JSON document, for shell scripts on
// machines that have no jq: jsonpick data.recordingId <answer.json
//
// A string is printed as it is, the elements of an array one a line, anything
// else as JSON. A path that leads nowhere is an error, and nothing is printed.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: jsonpick PATH <FILE, for instance: jsonpick data.steps.0.text")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "jsonpick:", err)
		os.Exit(1)
	}
}

func run(path string, in io.Reader, out io.Writer) error {
	dec := json.NewDecoder(in)
	dec.UseNumber() // a number is printed as it was written
	var v any
	if err := dec.Decode(&v); err != nil {
		return fmt.Errorf("read JSON: %w", err)
	}
	for _, key := range strings.Split(path, ".") {
		next, ok := child(v, key)
		if !ok {
			return fmt.Errorf("no %q in %s", key, path)
		}
		v = next
	}
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	for _, e := range list {
		if _, err := fmt.Fprintln(out, text(e)); err != nil {
			return err
		}
	}
	return nil
}

func child(v any, key string) (any, bool) {
	switch v := v.(type) {
	case map[string]any:
		c, ok := v[key]
		return c, ok
	case []any:
		n, err := strconv.Atoi(key)
		if err != nil || n < 0 || n >= len(v) {
			return nil, false
		}
		return v[n], true
	default:
		return nil, false
	}
}

func text(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v) // what was decoded from JSON can be encoded again
	}
	return string(raw)
}
