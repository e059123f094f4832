package cli

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/studio/agent"
	"github.com/proofreel/proofreel/internal/studio/author"
	boxes "github.com/proofreel/proofreel/internal/studio/executor/cell"
	"github.com/proofreel/proofreel/internal/studio/exit"
	"github.com/proofreel/proofreel/internal/studio/gateway"
	"github.com/proofreel/proofreel/internal/studio/gateway/price"
	"github.com/proofreel/proofreel/internal/studio/ledger"
	"github.com/proofreel/proofreel/internal/studio/scene"
	"github.com/proofreel/proofreel/internal/studio/workflow"
	"github.com/proofreel/proofreel/internal/studio/workflow/inproc"
)

// Who made a film.
const (
	modelAuthor    = "model"
	templateAuthor = author.Name
)

// provider is where models are when there is a key and no --upstream.
const provider = "https://api.anthropic.com"

// readPrompt reads standard input.
func readPrompt() (string, error) {
	const most = 16 << 10
	raw, err := io.ReadAll(io.LimitReader(os.Stdin, most+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("read standard input: %w", err)
	case len(raw) > most:
		return "", fmt.Errorf("standard input has more than %d bytes", most)
	}
	return string(raw), nil
}

// authorship is who writes the scene, and how it is paid.
type authorship struct {
	name     string
	tier     workflow.Tier
	upstream gateway.Upstream
	prices   *price.Table
	notes    []string
	stop     func() // ends what was started for it
}

// generateHere makes a film on this machine.
func generateHere(ctx context.Context, o GenerateOptions) (res GenerateResult, err error) {
	log := slog.New(slog.DiscardHandler)
	place, err := claimOut(o.Out, o.Poster)
	if err != nil {
		return GenerateResult{}, err
	}
	defer place.release()
	by, err := authorOf(ctx, o, os.Getenv)
	if err != nil {
		return GenerateResult{}, err
	}
	defer by.stop()
	box, notes, err := openBox(ctx, o, log)
	if err != nil {
		return GenerateResult{}, err
	}
	defer func() { err = errors.Join(err, box.Close()) }()
	w, err := workflow.Open(workflow.Config{
		Executor: box, Upstream: by.upstream, Prices: by.prices, Dir: filepath.Join(boxes.DefaultDir(), "generate"), Log: log,
	})
	if err != nil {
		return GenerateResult{}, fault.Wrap(err, fault.StateUnwritable, "Look at what the error names.", "there is no place for the job")
	}
	defer w.Close()
	if _, err := w.Reap(ctx); err != nil {
		return GenerateResult{}, fault.Wrap(err, fault.CleanupFailed, "Remove what the error names.", "what an earlier job left could not be removed")
	}
	width, height, _ := o.Order.Aspect.Size() // the order was checked
	made, err := w.Run(ctx, workflow.Order{
		ID: jobID(), Prompt: o.Order.Prompt, Seconds: float64(o.Order.Seconds), Width: width, Height: height, Style: o.Order.Style,
		Tier: by.tier, Exit: exit.Mode(o.Exit), Film: place.film, Poster: place.poster,
	}, o.Progress)
	if err != nil {
		return GenerateResult{}, err //nolint:wrapcheck // it is the user's error
	}
	return GenerateResult{
		Author: by.name, Model: by.tier.Model, Path: made.Film.Path, Poster: made.Poster.Path,
		Width: width, Height: height, FPS: agent.FPS, Frames: made.Frames, Seconds: made.Seconds,
		Bytes: made.Film.Size, SHA256: made.Film.SHA256, PosterBytes: made.Poster.Size, PosterFrame: made.PosterFrame,
		Box: box.Name(), Exit: o.Exit, Turns: made.Turns, SpentUSD: strings.TrimPrefix(made.Spent.String(), "$"), Took: made.Took.Seconds(),
		Notes: append(by.notes, notes...),
	}, nil
}

func jobID() string {
	var b [6]byte
	_, _ = rand.Read(b[:]) // it never fails
	return "g-" + hex.EncodeToString(b[:])
}

// authorOf finds out who writes: the server of --upstream, the provider when
// there is a key, else the template author of this program.
func authorOf(ctx context.Context, o GenerateOptions, getenv func(string) string) (authorship, error) {
	tier, ok := workflow.TierNamed(o.Tier)
	if !ok {
		return authorship{}, fault.New(fault.InvalidValue, "Use standard or pro.", "there is no tier %s", quote(o.Tier))
	}
	if o.Model != "" {
		tier.Model = o.Model
	}
	if o.Budget > 0 {
		tier.Budget = ledger.Micros(o.Budget)
	}
	key, err := keyOf(o, getenv)
	if err != nil {
		return authorship{}, err
	}
	by := authorship{name: modelAuthor, tier: tier, stop: func() {}}
	switch {
	case o.Upstream != "":
		if err := mayCarry(o.Upstream, key); err != nil {
			return authorship{}, err
		}
		by.upstream = gateway.Upstream{BaseURL: o.Upstream, Key: key}
		by.tier.ScreenModel, by.tier.Thinking = o.Model, false
		if o.Budget == 0 {
			return by, by.free(o.Model)
		}
	case key.Reveal() != "":
		by.upstream = gateway.Upstream{BaseURL: provider, Key: key, Counts: true}
	case o.Model != "" || o.Budget > 0:
		return authorship{}, fault.New(fault.InvalidValue, "Set ANTHROPIC_API_KEY or --key-file, or name a server with --upstream.",
			"there is no key for a model, and --model and --budget mean nothing to the template author")
	default:
		return offline(ctx, by, getenv)
	}
	return by, nil
}

// free makes a model cost nothing, because the caller says so.
func (by *authorship) free(model string) error {
	table, err := price.Default()
	if err == nil {
		const most = 32_000 // tokens; the gateway's own cap
		table, err = table.With(price.Model{Name: model, MaxOutput: most})
	}
	if err != nil {
		return fmt.Errorf("make prices: %w", err)
	}
	by.prices, by.tier.Budget = &table, ledger.Dollar
	return nil
}

// offline starts the template author. No other process can reach it.
func offline(ctx context.Context, by authorship, getenv func(string) string) (authorship, error) {
	cache, err := cacheFolder(getenv)
	if err != nil {
		return authorship{}, err
	}
	fonts, err := scene.Fonts(cache)
	if err != nil {
		return authorship{}, fault.Wrap(err, fault.StateUnwritable, "Make room, or set XDG_CACHE_HOME.", "the fonts can't be unpacked")
	}
	by.name = templateAuthor
	by.tier.Model, by.tier.ScreenModel, by.tier.Thinking = author.Model, author.Model, false
	if err := by.free(author.Model); err != nil {
		return authorship{}, err
	}
	l := inproc.Listen()
	by.upstream = gateway.Upstream{BaseURL: "http://template.invalid", Dial: l.Dial}
	by.notes = []string{"There is no key for a model, so a template of this program made the film, not a model: it sets the prompt's own words. Set ANTHROPIC_API_KEY, or name a server with --upstream."}
	serving, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = author.New(author.Options{Covers: covered(fonts.Glyphs)}).Serve(serving, l)
	}()
	by.stop = func() {
		cancel()
		<-done
	}
	return by, nil
}

// keyOf reads the key. It is never an argument: those can be seen by everybody.
// The provider's key is for the provider: a server of --upstream has its own.
func keyOf(o GenerateOptions, getenv func(string) string) (gateway.Secret, error) {
	switch {
	case o.KeyFile != "":
	case o.Upstream != "":
		return gateway.NewSecret(getenv("PROOFREEL_UPSTREAM_KEY")), nil
	default:
		return gateway.NewSecret(getenv("ANTHROPIC_API_KEY")), nil
	}
	key, err := gateway.SecretFromFile(o.KeyFile)
	var refused *gateway.KeyFileError
	if errors.As(err, &refused) {
		return gateway.Secret{}, fault.New(fault.InvalidValue, refused.Hint, "--key-file: %v", refused)
	}
	if err != nil || key.Reveal() == "" {
		return gateway.Secret{}, fault.New(fault.InvalidValue, "Name a file that holds the key and nothing else.", "--key-file: there is no key in it that can be read")
	}
	return key, nil
}

// mayCarry refuses to send a key through a network that others can read.
func mayCarry(upstream string, key gateway.Secret) error {
	u, err := url.Parse(upstream)
	if err != nil || key.Reveal() == "" || u.Scheme == "https" {
		return nil //nolint:nilerr // the address is checked where it is used
	}
	if ip := net.ParseIP(u.Hostname()); u.Hostname() == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return fault.New(fault.InvalidValue, "Use https, or leave the key out.", "--upstream: the key would go over the network in the open")
}

// covered says of a character whether ranges, which are sorted, have it.
func covered(ranges [][2]rune) func(rune) bool {
	return func(r rune) bool {
		_, ok := slices.BinarySearchFunc(ranges, r, func(span [2]rune, r rune) int {
			switch {
			case span[1] < r:
				return -1
			case span[0] > r:
				return 1
			}
			return 0
		})
		return ok
	}
}
