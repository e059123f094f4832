// Package fault is the one table of user-facing error codes: what each means,
// its exit code and HTTP status, whether trying again can help. Help texts,
// the manifest, the docs and every surface's errors are made from it. It uses
// the standard library only and knows nothing of what can fail.
package fault

import (
	"errors"
	"fmt"
)

// Code is a stable name that a program may switch on. Codes are never renamed.
type Code string

// The codes. Each has a row in the table below.
const (
	Usage             Code = "usage"
	InvalidValue      Code = "invalid_value"
	InvalidState      Code = "invalid_state"
	Ambiguous         Code = "ambiguous_recording"
	NoStep            Code = "no_step"
	NotFound          Code = "recording_not_found"
	StartFailed       Code = "start_failed"
	MissingTool       Code = "missing_tool"
	DisplayFailed     Code = "display_failed"
	BrowserFailed     Code = "browser_failed"
	CaptureFailed     Code = "capture_failed"
	StartTimeout      Code = "start_timeout"
	DiskFull          Code = "disk_full"
	StateUnwritable   Code = "state_unwritable"
	StateCorrupt      Code = "state_corrupt"
	SupervisorFailed  Code = "supervisor_failed"
	StopTimeout       Code = "stop_timeout"
	NoFrames          Code = "no_frames"
	FinalizeFailed    Code = "finalize_failed"
	VerifyFailed      Code = "verify_failed"
	PublishFailed     Code = "publish_failed"
	CleanupFailed     Code = "cleanup_failed"
	ClipFailed        Code = "clip_failed"
	SizeUnreachable   Code = "size_unreachable"
	OutUnwritable     Code = "out_unwritable"
	RenderBusy        Code = "render_busy"
	BrowserMissing    Code = "browser_missing"
	EncodeFailed      Code = "encode_failed"
	RenderTimeout     Code = "render_timeout"
	RenderInterrupted Code = "render_interrupted"
	DoctorFailed      Code = "doctor_failed"
	SceneNotFound     Code = "scene_not_found"
	SceneSyntax       Code = "scene_syntax"
	SceneImport       Code = "scene_import"
	SceneMeta         Code = "scene_meta"
	SceneThrew        Code = "scene_threw"
	SceneHung         Code = "scene_hung"
	SceneMemory       Code = "scene_memory"
	SceneAsync        Code = "scene_async"
	SceneNetwork      Code = "scene_network"
	SceneAsset        Code = "scene_asset"
	SceneFont         Code = "scene_font"
	SceneGlyph        Code = "scene_glyph"
	SceneEmpty        Code = "scene_empty"
	SceneImpure       Code = "scene_impure"
	SceneUnsupported  Code = "scene_unsupported"
	ExitRefused       Code = "exit_refused"
	BoxUnavailable    Code = "box_unavailable"
	BoxUnsafe         Code = "box_unsafe"
	BoxFailed         Code = "box_failed"
	PromptInvalid     Code = "prompt_invalid"
	PromptRefused     Code = "prompt_refused"
	PromptUnchecked   Code = "prompt_unchecked"
	BudgetExhausted   Code = "budget_exhausted"
	ModelFailed       Code = "model_failed"
	GenerateTimeout   Code = "generate_timeout"
	GenerateFailed    Code = "generate_failed"
	Interrupted       Code = "interrupted"
	Internal          Code = "internal"
)

// Exit codes of the command line.
const (
	ExitOK       = 0
	ExitUsage    = 2
	ExitFailed   = 4
	ExitNotFound = 20
)

// Row is what is known of a code.
type Row struct {
	Code      Code   `json:"code"`
	Exit      int    `json:"exitCode"`
	HTTP      int    `json:"httpStatus"`
	Retryable bool   `json:"retryable"`
	Meaning   string `json:"meaning"`
}

// Table lists every code, in the order of the docs.
func Table() []Row {
	return []Row{
		{Usage, ExitUsage, 400, false, "The command line can't be understood: an unknown, repeated or valueless flag, an unknown command, an extra argument."},
		{InvalidValue, ExitUsage, 422, false, "A flag or an argument has a value that is not allowed."},
		{InvalidState, ExitUsage, 409, false, "The recording is not in a state in which this can be done."},
		{Ambiguous, ExitUsage, 409, false, "Several recordings run and none was named."},
		{NoStep, ExitUsage, 409, false, "A result was given before any step."},
		{NotFound, ExitNotFound, 404, false, "There is no such recording on this machine."},
		{StartFailed, ExitFailed, 500, true, "The recording could not be started."},
		{MissingTool, ExitFailed, 500, false, "A program that is needed is not installed."},
		{DisplayFailed, ExitFailed, 500, true, "The display could not be started or reached."},
		{BrowserFailed, ExitFailed, 500, true, "The browser could not be started or the page not opened."},
		{CaptureFailed, ExitFailed, 500, true, "The capture gave no frame."},
		{StartTimeout, ExitFailed, 504, true, "The start took longer than --startup-timeout."},
		{DiskFull, ExitFailed, 507, true, "There is too little free space where recordings or unfinished renders are kept."},
		{StateUnwritable, ExitFailed, 500, false, "The directory of the recordings can't be written."},
		{StateCorrupt, ExitFailed, 500, false, "A recording's state file can't be read."},
		{SupervisorFailed, ExitFailed, 500, true, "The recording's supervisor could not be started or died again and again."},
		{StopTimeout, ExitFailed, 504, true, "Nothing moved for the time that --timeout allows; the recording is kept."},
		{NoFrames, ExitFailed, 500, false, "The recording holds no frame that can be decoded."},
		{FinalizeFailed, ExitFailed, 500, true, "The film could not be put together; the recorded segments are kept."},
		{VerifyFailed, ExitFailed, 500, false, "The film does not hold what was captured or drawn; recorded segments are kept."},
		{PublishFailed, ExitFailed, 502, true, "The film is verified and kept here, but it could not be published; stop again publishes it."},
		{CleanupFailed, ExitFailed, 500, true, "The film is safe, but something that belonged to the recording could not be removed."},
		{ClipFailed, ExitFailed, 500, false, "The clip could not be made; the recording and its film are as they were."},
		{SizeUnreachable, ExitFailed, 500, false, "The clip can't be made as small as --max-size asks."},
		{OutUnwritable, ExitFailed, 500, false, "The folder for the output can't be written."},
		{RenderBusy, ExitUsage, 409, false, "Another process is rendering the same film now."},
		{BrowserMissing, ExitFailed, 500, false, "There is no Chromium to draw with."},
		{EncodeFailed, ExitFailed, 500, true, "An encoder died, hung, or gave something else than it was asked for; finished parts are kept, and the same command goes on from there."},
		{RenderTimeout, ExitFailed, 504, true, "The film was not ready within --timeout; finished parts are kept, and the same command goes on from there."},
		{RenderInterrupted, ExitFailed, 503, true, "The render was interrupted by a signal; finished parts are kept, and the same command goes on from there."},
		{DoctorFailed, ExitFailed, 500, false, "A recording would not work on this machine."},
		{SceneNotFound, ExitNotFound, 404, false, "There is no such scene file."},
		{SceneSyntax, ExitUsage, 422, false, "The scene, or a file that it imports, is not valid JavaScript."},
		{SceneImport, ExitUsage, 422, false, "The scene imports what is neither in its folder nor in the library."},
		{SceneMeta, ExitUsage, 422, false, "The scene's meta is missing or has a value that is not allowed, or there is no draw."},
		{SceneThrew, ExitUsage, 422, false, "The scene's code threw an error."},
		{SceneHung, ExitUsage, 422, false, "The scene did not finish a frame, or its loading, in the time allowed."},
		{SceneMemory, ExitUsage, 422, false, "The scene needs more memory than it is allowed."},
		{SceneAsync, ExitUsage, 422, false, "draw returned a Promise: what it draws later would be in no frame."},
		{SceneNetwork, ExitUsage, 422, false, "The scene asked for something from the network."},
		{SceneAsset, ExitUsage, 422, false, "A file that the scene names is missing, lies outside its folder or can't be decoded."},
		{SceneFont, ExitUsage, 422, false, "The scene sets a font that can't be parsed, or whose families are none of the library's."},
		{SceneGlyph, ExitUsage, 422, false, "The scene draws a character that no font of the library has."},
		{SceneEmpty, ExitUsage, 422, false, "The scene draws nothing: all frames are of one colour."},
		{SceneImpure, ExitUsage, 422, false, "A frame looks different when it is drawn alone or again: the scene keeps state between frames."},
		{SceneUnsupported, ExitUsage, 422, false, "The scene uses something that can't give the same frames every time."},
		{ExitRefused, ExitFailed, 502, true, "What the author made is not let out of its box: the film or the poster failed a check, which is named."},
		{BoxUnavailable, ExitFailed, 503, false, "No box was set up on this machine, or the one that was can't be used; nothing was run."},
		{BoxUnsafe, ExitFailed, 503, false, "No box of this machine passes its conformance probe; nothing was run."},
		{BoxFailed, ExitFailed, 503, true, "A box of this machine ended before its work was done: by a limit, or because the machine was short of something. What lay in it is not to blame as far as is known."},
		{PromptInvalid, ExitUsage, 422, false, "The prompt is too short or too long, is not valid UTF-8, or holds control characters or others that can't be seen."},
		{PromptRefused, ExitUsage, 422, false, "The prompt is no brief for a film, or asks for what is not allowed; no agent has seen it."},
		{PromptUnchecked, ExitFailed, 503, true, "It could not be checked whether the prompt is a brief that is allowed, so no agent has seen it."},
		{BudgetExhausted, ExitFailed, 500, false, "The job's budget for the model, or its number of calls, was used up before there was a film."},
		{ModelFailed, ExitFailed, 502, true, "The model could not be reached, or refused, before there was a film."},
		{GenerateTimeout, ExitFailed, 504, true, "The job's time was up before there was a film."},
		{GenerateFailed, ExitFailed, 500, true, "The author ended without a film, or its box ended before it."},
		{Interrupted, ExitFailed, 503, true, "The command was interrupted by a signal, or the recording was stopped before it had begun."},
		{Internal, ExitFailed, 500, false, "A fault of Proofreel's own."},
	}
}

// Lookup gives the row of a code; a code without one is Internal's.
func Lookup(c Code) Row {
	rows := Table()
	for _, r := range rows {
		if r.Code == c {
			return r
		}
	}
	return rows[len(rows)-1]
}

// Effect says what a command changed in the world.
type Effect string

// The effects, as the contract names them.
const (
	EffectNone             Effect = "none"
	EffectRecordingStarted Effect = "recording-started"
	EffectEventRecorded    Effect = "event-recorded"
	EffectProofSaved       Effect = "proof-saved"
	EffectProofPublished   Effect = "proof-published"
	EffectClipMade         Effect = "clip-made"
	EffectFilmRendered     Effect = "film-rendered"
	EffectPicturesMade     Effect = "pictures-made"
	EffectSceneMade        Effect = "scene-made"
	EffectBoxChosen        Effect = "box-chosen"
	EffectStartUncertain   Effect = "start-uncertain"
	EffectFinalizePartial  Effect = "finalize-partial"
)

// Error is an error for the user: what is wrong, and how to mend it. It never
// holds a secret.
type Error struct {
	Code     Code   `json:"code"`
	Message  string `json:"message"`
	Hint     string `json:"hint"`
	Artifact string `json:"artifact,omitempty"` // a file that is safe in spite of the error
	Effect   Effect `json:"effect,omitempty"`   // what was changed; empty: none
	Err      error  `json:"-"`                  // the cause
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Code, e.Message) }

func (e *Error) Unwrap() error { return e.Err }

// New makes an error for the user.
func New(code Code, hint, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...), Hint: hint}
}

// Wrap makes an error for the user from its cause, whose text follows the
// message.
func Wrap(err error, code Code, hint, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...) + ": " + err.Error(), Hint: hint, Err: err}
}

// WithEffect gives a copy of the error that says what was changed.
func (e *Error) WithEffect(f Effect) *Error {
	c := *e
	c.Effect = f
	return &c
}

// WithArtifact gives a copy of the error that names a file which is safe.
func (e *Error) WithArtifact(path string) *Error {
	c := *e
	c.Artifact = path
	return &c
}

// As gives err as an error for the user. One that is none becomes Internal.
func As(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return Wrap(err, Internal, "This should not happen: please report it with the text of this error.", "unexpected")
}
