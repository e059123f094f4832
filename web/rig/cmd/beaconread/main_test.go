package main

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/proofreel/proofreel/web/rig/beacon"
)

// Both printers must tell of the same film, and the JSON must be one object.
func TestRunPrintsWordsAndJSON(t *testing.T) {
	film := filepath.Join(t.TempDir(), "film.mkv")
	out, err := exec.Command("ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc=duration=1:rate=5", film).CombinedOutput()
	if err != nil {
		t.Fatalf("ffmpeg is needed (apt install ffmpeg): %v: %s", err, out)
	}
	var words, object bytes.Buffer
	if err := run(t.Context(), &words, "ffmpeg", film, false); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(words.String(), "5 unreadable") {
		t.Errorf("words: %s", words.String())
	}
	if err := run(t.Context(), &object, "ffmpeg", film, true); err != nil {
		t.Fatal(err)
	}
	var got beacon.Report
	if err := json.Unmarshal(object.Bytes(), &got); err != nil || got.Unreadable != 5 {
		t.Errorf("%s: %v", object.String(), err)
	}
	if err := run(t.Context(), &words, "ffmpeg", film+".absent", false); err == nil {
		t.Error("an absent film was no error")
	}
}
