package ffmpeg

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/host/install"
)

// Info is one ffmpeg binary. Nothing is remembered between two values of it.
type Info struct {
	Path    string
	Version Version
}

// Probe asks the binary at path for its version. The error is a *BrokenError.
func Probe(ctx context.Context, path string) (Info, error) {
	out, err := ask(ctx, path, "-version")
	if err != nil {
		return Info{}, err
	}
	v, err := parseVersion(out)
	if err != nil {
		return Info{}, &BrokenError{Path: path, Hint: install.Detect().Hint(install.FFmpeg), Err: err}
	}
	return Info{Path: path, Version: v}, nil
}

// Kind is a kind of thing that a build has or lacks.
type Kind string

// The kinds. The value is the word for people.
const (
	Encoder Kind = "encoder"
	Decoder Kind = "decoder"
	Grabber Kind = "grabber" // an input device, for instance x11grab
	Filter  Kind = "filter"
	Muxer   Kind = "muxer"
	Demuxer Kind = "demuxer"
	Option  Kind = "option" // of the command line, without its dash or its "no"
)

// listing gives the arguments that list all names of the kind.
func (k Kind) listing() []string {
	switch k {
	case Grabber:
		return []string{"-hide_banner", "-devices"}
	case Option:
		return []string{"-hide_banner", "-h", "long"}
	default:
		return []string{"-hide_banner", "-" + string(k) + "s"}
	}
}

// Names lists what the build has of a kind.
func (i Info) Names(ctx context.Context, k Kind) ([]string, error) {
	out, err := ask(ctx, i.Path, k.listing()...)
	if err != nil {
		return nil, fmt.Errorf("list the %ss: %w", k, err)
	}
	switch k {
	case Filter:
		return parseFilters(out), nil
	case Option:
		return parseOptions(out), nil
	case Grabber, Demuxer:
		return parseList(out, 'D'), nil
	case Muxer:
		return parseList(out, 'E'), nil
	default:
		return parseList(out, 0), nil
	}
}

// EncoderOptions lists the private options of an encoder, without their
// dashes. An encoder that the build lacks has none.
func (i Info) EncoderOptions(ctx context.Context, encoder string) ([]string, error) {
	out, err := ask(ctx, i.Path, "-hide_banner", "-h", "encoder="+encoder)
	if err != nil {
		return nil, fmt.Errorf("list the options of %s: %w", encoder, err)
	}
	return parseOptions(out), nil
}

// Need is what a caller wants of a build.
type Need map[Kind][]string

// MissingError says what a build lacks. It unwraps to a *fault.Error.
type MissingError struct {
	Info    Info
	Missing []string // for instance "encoder libx264"
	Hint    string
}

func (e *MissingError) Error() string { return e.fault().Message }

func (e *MissingError) Unwrap() error { return e.fault() }

func (e *MissingError) fault() *fault.Error {
	return fault.New(fault.MissingTool, e.Hint, "%s (version %s) lacks %s", e.Info.Path, e.Info.Version, strings.Join(e.Missing, ", "))
}

// Check asks the build whether it has all that is needed; one listing for each
// kind, side by side. The error is a *MissingError that names everything that
// lacks, or a *BrokenError.
func (i Info) Check(ctx context.Context, need Need) error {
	type answer struct {
		missing []string
		err     error
	}
	kinds := make([]Kind, 0, len(need))
	for k := range need {
		kinds = append(kinds, k)
	}
	slices.Sort(kinds)
	answers := make([]answer, len(kinds))
	var wg sync.WaitGroup
	for n, k := range kinds {
		wg.Go(func() {
			have, err := i.Names(ctx, k)
			answers[n].err = err
			for _, name := range need[k] {
				if !slices.Contains(have, name) {
					answers[n].missing = append(answers[n].missing, string(k)+" "+name)
				}
			}
		})
	}
	wg.Wait()
	var missing []string
	for _, a := range answers {
		if a.err != nil {
			return a.err
		}
		missing = append(missing, a.missing...)
	}
	if len(missing) == 0 {
		return nil
	}
	hint := "this build of ffmpeg is too small or too old; " + install.Detect().Hint(install.FFmpeg) + ", or name another build in " + EnvPath
	return &MissingError{Info: i, Missing: missing, Hint: hint}
}
