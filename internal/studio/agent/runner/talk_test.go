package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"pgregory.net/rapid"

	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/internal/studio/agent"
)

// converse makes a conversation of so many turns, with long texts and pictures.
func converse(turns int) *talk {
	t := newTalk("system", nil, "the job "+strings.Repeat("x", 2000))
	for i := range turns {
		id := fmt.Sprintf("toolu_%d", i)
		t.hear(&anthropic.Message{Content: []anthropic.ContentBlockUnion{
			{Type: "thinking", Thinking: strings.Repeat("hm", 500), Signature: "s"},
			{Type: "text", Text: strings.Repeat("a", 3000)},
			{Type: "tool_use", ID: id, Name: "edit", Input: json.RawMessage(`{"text":"` + strings.Repeat("b", 9000) + `","n":1}`)},
		}})
		t.answer([]answered{{id, result{text: strings.Repeat("c", 9000), pictures: [][]byte{{1}}}}})
	}
	return t
}

// A conversation that grows for ever stays within bounds, keeps the job, its
// order of roles, and an answer to every call.
func TestConversationStaysWithinBounds(t *testing.T) {
	for _, turns := range []int{1, 10, 17, 40, agent.MaxTurns} {
		c := converse(turns)
		c.fit()
		pictures, text := c.size()
		if pictures > mostPictures || turns < 100 && text > mostText {
			t.Errorf("%d turns: %d pictures, %d bytes", turns, pictures, text)
		}
		if turns > 40 && c.messages[4].content[0].OfThinking != nil {
			t.Error("old thinking is kept")
		}
		c.shrink()
		if pictures, _ := c.size(); pictures != 0 {
			t.Errorf("%d pictures are left", pictures)
		}
		if first := c.messages[0].content[0].OfText.Text; !strings.HasPrefix(first, "the job ") || len(first) < 2000 {
			t.Error("the job was cut")
		}
		if b := c.messages[len(c.messages)-1].content[0].OfToolResult.Content[0].OfText.Text; len(b) != 9000 {
			t.Error("the newest answer was cut")
		}
		open := ""
		for i, m := range c.messages {
			if m.assistant != (i%2 == 1) || len(m.content) == 0 {
				t.Fatalf("message %d of %d is out of order", i, len(c.messages))
			}
			for _, b := range m.content {
				if b.OfToolUse != nil {
					open = b.OfToolUse.ID
				} else if b.OfToolResult != nil && b.OfToolResult.ToolUseID != open {
					t.Fatalf("message %d answers %s, not %s", i, b.OfToolResult.ToolUseID, open)
				}
			}
		}
	}
}

// What is kept of an output is its beginning and its end, in bounded memory.
func TestWindow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, all := &window{most: 100}, ""
		for _, p := range rapid.SliceOf(rapid.StringN(0, 60, 200)).Draw(t, "writes") {
			all += p
			if n, err := w.Write([]byte(p)); n != len(p) || err != nil {
				t.Fatal(n, err)
			}
		}
		got := w.String()
		if len(all) <= 100 && got != all {
			t.Fatalf("%q becomes %q", all, got)
		}
		if len(all) > 100 && (!strings.HasPrefix(got, all[:50]) || !strings.HasSuffix(got, all[len(all)-50:]) || len(got) > 200) {
			t.Fatalf("%q becomes %q", all, got)
		}
	})
	w := &window{most: 100}
	for range 1000 {
		_, _ = w.Write(make([]byte, 1<<16))
	}
	if cap(w.tail) > 1<<20 {
		t.Errorf("%d bytes are held", cap(w.tail))
	}
}

// bare is a session that has a folder and nothing else.
func bare(t *testing.T) *session {
	t.Helper()
	s := &session{c: Config{Work: t.TempDir(), Env: []string{"PATH=" + os.Getenv("PATH")}}, report: newReporter("/nonexistent"), spawn: proc.NewSpawner(), began: time.Now(), poster: -1}
	t.Cleanup(s.close)
	return s
}

// A command that ends must not leave its group behind, and one that hides a
// child elsewhere must not hold up the runner.
func TestCommandsEndWhole(t *testing.T) {
	s := bare(t)
	r := s.bash(t.Context(), json.RawMessage(`{"command":"sleep 987654 & echo $! >pid; setsid sleep 60 & echo $! >far; echo out; echo err >&2; exit 3"}`))
	if !r.failed || !strings.Contains(r.text, "out\nerr\n") || !strings.Contains(r.text, "exit status 3") {
		t.Errorf("got %q", r.text)
	}
	pid := func(name string) int {
		var n int
		raw, _ := os.ReadFile(s.path(name))
		_, _ = fmt.Sscan(string(raw), &n)
		return n
	}
	t.Cleanup(func() { _ = unix.Kill(pid("far"), unix.SIGKILL) })
	for i := 0; alive(pid("pid")); i++ {
		if i == 500 {
			t.Fatal("the command's background process lives on")
		}
		time.Sleep(10 * time.Millisecond)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r := s.bash(ctx, json.RawMessage(`{"command":"sleep 60"}`)); !r.failed {
		t.Error("a command runs after the end")
	}
}

func alive(pid int) bool {
	st, err := proc.ReadStat(pid)
	return err == nil && st.State != 'Z'
}

func TestEdit(t *testing.T) {
	s := bare(t)
	outside := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(outside, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		os.Symlink(outside, s.path("link")), unix.Mkfifo(s.path("pipe"), 0o600), os.Mkdir(s.path("folder"), 0o700),
		os.WriteFile(s.path("binary"), []byte{0, 1}, 0o600), os.WriteFile(s.path("large"), make([]byte, mostFile+1), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		in, want string
		failed   bool
	}{
		{`{"action":"create","path":"a/b.js","text":"one\ntwo\n"}`, "written", false},
		{`{"action":"view","path":"a/b.js"}`, "    1  one\n    2  two\n", false},
		{`{"action":"view","path":"` + s.path("a/b.js") + `","line":2,"lines":1}`, "    2  two\n", false},
		{`{"action":"insert","path":"a/b.js","line":1,"new":"and"}`, "inserted", false},
		{`{"action":"replace","path":"a/b.js","old":"and\ntwo","new":"three"}`, "replaced", false},
		{`{"action":"view","path":"a/b.js"}`, "    1  one\n    2  three\n", false},
		{`{"action":"replace","path":"a/b.js","old":"e","new":"x"}`, "3 times", true},
		{`{"action":"replace","path":"a/b.js","old":"","new":"x"}`, "once", true},
		{`{"action":"insert","path":"a/b.js","line":99,"new":"x"}`, "no line 99", true},
		{`{"action":"view","path":"."}`, "a/\nbinary\n", false},
		{`{"action":"view","path":"link"}`, "link", true},
		{`{"action":"create","path":"link","text":"x"}`, "link", true},
		{`{"action":"view","path":"pipe"}`, "no text file", true},
		{`{"action":"create","path":"pipe","text":"x"}`, "no file", true},
		{`{"action":"create","path":"folder","text":"x"}`, "no file", true},
		{`{"action":"view","path":"binary"}`, "no text", true},
		{`{"action":"view","path":"large"}`, "no text file", true},
		{`{"action":"view","path":"/etc/passwd"}`, "passwd", true},
		{`{"action":"create","path":"../x","text":"x"}`, "x", true},
		{`{"action":"delete","path":"a"}`, "view, create", true},
		{`{"action":7}`, "as it must be", true},
	} {
		if r := s.edit(t.Context(), json.RawMessage(c.in)); r.failed != c.failed || !strings.Contains(r.text, c.want) {
			t.Errorf("%s: %v %q", c.in, r.failed, r.text)
		}
	}
	if raw, err := os.ReadFile(outside); err != nil || string(raw) != "secret" {
		t.Errorf("the file outside: %q, %v", raw, err)
	}
}

// Each way in which a film is not the one that was ordered.
func TestCheckFilm(t *testing.T) {
	s := bare(t)
	s.order = agent.Order{Width: width, Height: height, Seconds: 1}
	t.Chdir(s.c.Work)
	if err := os.Mkdir("out", 0o700); err != nil {
		t.Fatal(err)
	}
	bad := func(what, want string) {
		t.Helper()
		if _, err := s.check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", what, err)
		}
	}
	film := os.Getenv(madeVar)
	bad("nothing", "is missing")
	if err := copyFile(film, "out/final.mp4"); err != nil {
		t.Fatal(err)
	}
	bad("no poster", "poster.jpg is missing")
	if err := saveJPEG("out/poster.jpg"); err != nil {
		t.Fatal(err)
	}
	if f, err := s.check(); err != nil || f.frames != 30 || f.poster != 15 {
		t.Errorf("a good film: %+v, %v", f, err)
	}
	s.order.Seconds = 4
	bad("too short", "1 seconds; want 4")
	s.order.Seconds, s.order.Width = 1, 1920
	bad("too small", "want 1920")
	s.order.Width = width
	if err := os.WriteFile("out/poster.jpg", []byte("GIF89a"), 0o600); err != nil {
		t.Fatal(err)
	}
	bad("poster", "no JPEG")
	if err := os.Truncate("out/final.mp4", 2000); err != nil {
		t.Fatal(err)
	}
	bad("torn", "final.mp4")
	if err := os.Remove("out/final.mp4"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(film, "out/final.mp4"); err != nil {
		t.Fatal(err)
	}
	bad("link", "no regular file")
}
