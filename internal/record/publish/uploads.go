package publish

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// uploads brings films to uploads.sh through its CLI (the npm package
// @buildinternet/uploads; facts from its packages/uploads/src).
type uploads struct {
	Options
	redact redactor
}

func newUploads(o Options) uploads {
	return uploads{Options: o, redact: newRedactor(o.Env)}
}

const getUploads = "install it with: npm install --global @buildinternet/uploads, and sign in with: uploads login (or set UPLOADS_TOKEN)"

func (u uploads) Publish(ctx context.Context, f Film) (Receipt, error) {
	if err := f.check(); err != nil {
		return Receipt{}, f.failed("stop again makes the film anew", err)
	}
	env := childEnv(u.Env, u.Workspace)
	bin, err := lookPath("uploads", env)
	if err != nil {
		return Receipt{}, f.failed(getUploads+"; stop again publishes the film", err)
	}
	var address string
	err = u.retry(ctx, "upload to uploads.sh", func(ctx context.Context) (err error) {
		address, err = u.put(ctx, bin, env, f)
		return err
	})
	if err != nil {
		return Receipt{}, f.failed(uploadHint(err), u.cleaned(err))
	}
	err = u.retry(ctx, "look at the hosted film", func(ctx context.Context) error {
		return u.checkHosted(ctx, address, f)
	})
	if err != nil {
		return Receipt{}, f.failed("the film was uploaded, but what is hosted is not right or can't be reached; stop again uploads it to the same place", u.cleaned(err))
	}
	return Receipt{URL: address}, nil
}

// cleanError is an error whose text holds no secret. What it wraps can be
// asked for, but is not printed.
type cleanError struct {
	text string
	err  error
}

func (e *cleanError) Error() string { return e.text }

func (e *cleanError) Is(target error) bool {
	// Only what callers may decide on: the cause's own text can hold secrets.
	return (target == context.Canceled || target == context.DeadlineExceeded) && errors.Is(e.err, target)
}

func (u uploads) cleaned(err error) error {
	return &cleanError{text: u.redact.clean(err.Error()), err: err}
}

// put runs the CLI once and gives the address that it printed.
func (u uploads) put(ctx context.Context, bin string, env []string, f Film) (string, error) {
	run, err := u.run(ctx, bin, putArgs(f, u.Workspace), env)
	if err != nil {
		return "", err
	}
	if run.code != 0 {
		return "", classify(run)
	}
	return hostedAddress(run.stdout, f)
}

// objectKey is the film's place in the workspace: fixed, so that a repeated
// upload replaces and never doubles.
func objectKey(f Film) string { return "screenshots/proofreel/" + f.ID + "/proof.mp4" }

func putArgs(f Film, workspace string) []string {
	args := []string{
		"put", f.Path, "--key", objectKey(f), "--content-type", "video/mp4", "--no-optimize", "--no-git", "--no-auto",
		"--no-pr", "--format", "json", "--replace",
	}
	if workspace != "" {
		args = append(args, "--workspace", workspace)
	}
	return args
}

// childEnv keeps the variables that the CLI needs: to find itself and its
// configuration, to write text, and to reach the network from where it is.
func childEnv(env []string, workspace string) []string {
	keep := []string{
		"PATH", "HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "BUILDINTERNET_CONFIG", "TMPDIR", "LANG", "LC_ALL",
		"HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "https_proxy", "http_proxy", "no_proxy", "NODE_USE_ENV_PROXY",
		"NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR",
	}
	var out []string
	for _, v := range env {
		name, _, ok := strings.Cut(v, "=")
		switch {
		case !ok:
		case name == "UPLOADS_WORKSPACE" && workspace != "": // the flag decides
		case slices.Contains(keep, name) || strings.HasPrefix(name, "UPLOADS_"):
			out = append(out, v)
		}
	}
	return out
}

func lookPath(name string, env []string) (string, error) {
	path := ""
	for _, v := range env {
		if p, ok := strings.CutPrefix(v, "PATH="); ok {
			path = p
		}
	}
	for _, d := range filepath.SplitList(path) {
		p := filepath.Join(d, name)
		st, err := os.Stat(p)
		if filepath.IsAbs(d) && err == nil && st.Mode().IsRegular() && st.Mode().Perm()&0o111 != 0 {
			return p, nil
		}
	}
	return "", fmt.Errorf("the CLI of uploads.sh (%s) is not in PATH", name)
}

// Exit codes of the CLI (its README and src/cli.ts).
const (
	exitUsage   = 2 // usage, token or file
	exitAuth    = 3 // authorisation, policy, quota
	exitNetwork = 4
)

// cliError is what the CLI said when it failed.
type cliError struct {
	exit   int
	code   string // for instance UNAUTHORIZED; empty: it gave none
	status int    // HTTP status; 0: it gave none
	text   string
}

func (e *cliError) Error() string {
	s := fmt.Sprintf("uploads put failed with exit code %d", e.exit)
	if e.code != "" {
		s += " (" + e.code + ")"
	}
	if e.status != 0 {
		s += fmt.Sprintf(", HTTP status %d", e.status)
	}
	if e.text != "" {
		s += ": " + e.text
	}
	return s
}

// classify makes the error of a failed run, and says whether another attempt
// may do better: only for the network, a server's fault, or too many requests.
func classify(run result) error {
	e := &cliError{exit: run.code}
	// With --format json the CLI prints {"error", "code", "status"} on stdout.
	var said struct {
		Error  json.RawMessage `json:"error"`
		Code   string          `json:"code"`
		Status int             `json:"status"`
	}
	if lastObject(run.stdout, &said) == nil {
		e.code, e.status = said.Code, said.Status
		if json.Unmarshal(said.Error, &e.text) != nil {
			e.text = string(said.Error)
		}
	}
	if e.text == "" {
		e.text = strings.TrimSpace(run.stderr)
	}
	retryable := e.status >= 500 || e.status == 429
	if e.status == 0 {
		retryable = e.exit == exitNetwork || e.code == "NETWORK"
	}
	if e.exit == exitUsage || e.exit == exitAuth && e.status != 429 {
		retryable = false
	}
	if !retryable {
		return e
	}
	return &transient{err: e, after: askedToWait(run.stderr + "\n" + e.text)}
}

// askedToWait finds what the API asked to wait, when the CLI passes it on.
func askedToWait(text string) time.Duration {
	m := regexp.MustCompile(`(?i)retry[- ]after["']?\s*[:=]?\s*(\d{1,4})\b`).FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		return 0
	}
	return time.Duration(n) * time.Second
}

func uploadHint(err error) string {
	var e *cliError
	if !errors.As(err, &e) {
		return "stop again publishes the film"
	}
	switch {
	case e.code == "MISSING_TOKEN" || e.code == "UNAUTHORIZED" || e.status == 401 || e.status == 403:
		return "sign in with: uploads login (or set UPLOADS_TOKEN); stop again publishes the film"
	case e.code == "STORAGE_QUOTA" || e.code == "UPLOAD_BUDGET" || e.status == 413:
		return "the workspace's limits are reached: see uploads usage; stop again publishes the film"
	case e.exit == exitUsage:
		return "the CLI did not take the command: bring it up to date with npm install --global @buildinternet/uploads; stop again publishes the film"
	default:
		return "stop again publishes the film"
	}
}

// hostedAddress reads the CLI's answer: {"workspace", "key", "url", "size",
// "contentType", "replaced", ...}.
func hostedAddress(stdout string, f Film) (string, error) {
	var answer struct {
		URL  *string `json:"url"`
		Key  *string `json:"key"`
		Size *int64  `json:"size"`
	}
	if err := lastObject(stdout, &answer); err != nil {
		return "", fmt.Errorf("uploads put gave no JSON: %w", err)
	}
	switch {
	case answer.URL == nil || *answer.URL == "":
		return "", errors.New("uploads put gave no public URL: the workspace has none")
	case answer.Key != nil && *answer.Key != objectKey(f):
		return "", fmt.Errorf("uploads put stored the film as %q, not as %q", *answer.Key, objectKey(f))
	case answer.Size != nil && *answer.Size != f.Bytes:
		return "", fmt.Errorf("uploads put stored %d bytes of %d", *answer.Size, f.Bytes)
	}
	if _, err := publicURL(*answer.URL); err != nil {
		return "", err
	}
	return *answer.URL, nil
}

// publicURL takes an address that may be given to anybody: https, and without
// anything that opens a door.
func publicURL(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil || strings.ContainsAny(address, " \t\r\n") {
		return nil, errors.New("the address of the hosted film can't be read") // the parser's error quotes it
	}
	secret := regexp.MustCompile(`(?i)token|sig|secret|key|auth|credential|password|expires`)
	switch {
	case u.Scheme != "https" || u.Host == "" || u.Opaque != "":
		return nil, fmt.Errorf("the address of the hosted film is not https: %s", redactURLs(address))
	case u.User != nil:
		return nil, errors.New("the address of the hosted film holds credentials")
	}
	for name := range u.Query() {
		if secret.MatchString(name) {
			return nil, errors.New("the address of the hosted film holds credentials in its query")
		}
	}
	return u, nil
}

// lastObject decodes the last JSON object of a text that may hold notes before
// it.
func lastObject(text string, to any) error {
	err := errors.New("no object")
	for at := range text {
		if text[at] != '{' || at > 0 && text[at-1] != '\n' {
			continue
		}
		dec := json.NewDecoder(strings.NewReader(text[at:]))
		var raw json.RawMessage
		if err = dec.Decode(&raw); err == nil {
			err = json.Unmarshal(raw, to)
		}
	}
	return err
}
