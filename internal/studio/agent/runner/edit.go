package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// mostFile is the largest file that edit reads or writes, in bytes.
const mostFile = 1 << 20

type editInput struct {
	Action string `json:"action"`
	Path   string `json:"path"`
	Text   string `json:"text"`
	Old    string `json:"old"`
	New    string `json:"new"`
	Line   int    `json:"line"`
	Lines  int    `json:"lines"`
}

// edit reads and writes files of the work folder. os.Root keeps it there, for
// the model's own good: the box is what keeps everything else from it.
func (s *session) edit(_ context.Context, raw json.RawMessage) result {
	var in editInput
	if err := json.Unmarshal(raw, &in); err != nil {
		return failed("the input is not as it must be: %v", err)
	}
	root, err := os.OpenRoot(s.c.Work)
	if err != nil {
		return failed("%v", err)
	}
	defer func() { _ = root.Close() }()
	name := in.Path
	if filepath.IsAbs(name) {
		if name, err = filepath.Rel(s.c.Work, name); err != nil {
			return failed("%s is not in the work folder", in.Path)
		}
	}
	text, err := in.apply(root, path.Clean(name))
	if err != nil {
		return failed("%v", err)
	}
	return result{text: text}
}

func (in editInput) apply(root *os.Root, name string) (string, error) {
	switch in.Action {
	case "view":
		return in.view(root, name)
	case "create":
		return "written", write(root, name, in.Text)
	case "replace":
		old, err := read(root, name)
		if err != nil {
			return "", err
		}
		if n := strings.Count(old, in.Old); in.Old == "" || n != 1 {
			return "", fmt.Errorf("old stands there %d times; it must be once", n)
		}
		return "replaced", write(root, name, strings.Replace(old, in.Old, in.New, 1))
	case "insert":
		old, err := read(root, name)
		if err != nil {
			return "", err
		}
		lines := strings.SplitAfter(old, "\n")
		if in.Line < 0 || in.Line > len(lines) {
			return "", fmt.Errorf("there is no line %d of %d", in.Line, len(lines))
		}
		head, added := strings.Join(lines[:in.Line], ""), in.New
		if head != "" && !strings.HasSuffix(head, "\n") {
			head += "\n"
		}
		if !strings.HasSuffix(added, "\n") {
			added += "\n"
		}
		return "inserted", write(root, name, head+added+strings.Join(lines[in.Line:], ""))
	default:
		return "", errors.New("action is view, create, replace or insert")
	}
}

func (in editInput) view(root *os.Root, name string) (string, error) {
	if st, err := root.Stat(name); err == nil && st.IsDir() {
		return list(root, name)
	}
	text, err := read(root, name)
	if err != nil {
		return "", err
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	first, count := max(in.Line, 1), in.Lines
	if count <= 0 {
		count = 400
	}
	var b strings.Builder
	for i := first; i <= len(lines) && i < first+count; i++ {
		if b.Len() > output {
			fmt.Fprintf(&b, "[… %d lines in all; view on from line %d …]\n", len(lines), i)
			break
		}
		fmt.Fprintf(&b, "%5d  %s\n", i, clip(lines[i-1], 2000))
	}
	if b.Len() == 0 {
		return fmt.Sprintf("[the file has %d lines]", len(lines)), nil
	}
	return b.String(), nil
}

func list(root *os.Root, name string) (string, error) {
	var b strings.Builder
	entries, err := fs.ReadDir(root.FS(), name)
	if err != nil {
		return "", fmt.Errorf("list %s: %w", name, err)
	}
	for i, e := range entries {
		if i == 200 {
			fmt.Fprintf(&b, "[… %d more …]\n", len(entries)-i)
			break
		}
		if b.WriteString(e.Name()); e.IsDir() {
			b.WriteByte('/')
		}
		b.WriteByte('\n')
	}
	return b.String(), nil
}

// read reads a regular file. What a command has put in its place, such as a
// pipe, must not hang the runner: so it is looked at first.
func read(root *os.Root, name string) (string, error) {
	st, err := root.Stat(name)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", name, err)
	}
	if !st.Mode().IsRegular() || st.Size() > mostFile {
		return "", fmt.Errorf("%s is no text file of at most %d bytes", name, mostFile)
	}
	f, err := root.Open(name)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", name, err)
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, mostFile))
	if err != nil {
		return "", fmt.Errorf("read %s: %w", name, err)
	}
	if bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data) {
		return "", fmt.Errorf("%s is no text", name)
	}
	return string(data), nil
}

func write(root *os.Root, name, text string) error {
	if len(text) > mostFile {
		return fmt.Errorf("a file has at most %d bytes", mostFile)
	}
	if st, err := root.Stat(name); err == nil && !st.Mode().IsRegular() {
		return fmt.Errorf("%s is no file", name)
	}
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if err := root.WriteFile(name, []byte(text), 0o644); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}
