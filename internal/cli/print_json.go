package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/proofreel/proofreel/internal/contract"
	"github.com/proofreel/proofreel/internal/record/supervisor"
)

// jsonPrinter prints for programs: one envelope, on stdout or on stderr.
type jsonPrinter struct {
	stdio   Stdio
	version string
	tenths  tenths
	made    contract.Progress // the last event of generate
}

func (p *jsonPrinter) progress(e contract.Progress) {
	b, err := compact(e)
	if err != nil {
		return // a progress event holds nothing that can't be JSON
	}
	_, _ = p.stdio.Err.Write(append(b, '\n')) // progress is worth no failure
}

// working prints an event a tenth of the work, and those that bring an address.
func (p *jsonPrinter) working(e contract.Progress) {
	if e.URL != "" || p.tenths.passed(e) {
		p.progress(e)
	}
}

// watching says nothing: stderr stays empty, and the answer is the last status.
func (p *jsonPrinter) watching(supervisor.StatusResult) {}

func (p *jsonPrinter) success(command string, a answer) error {
	envelope := contract.Success(p.version, command, a.effect, a.data)
	if a.raw == nil {
		return printLine(p.stdio.Out, envelope)
	}
	if !json.Valid(a.raw) {
		return errors.New("the kept answer is no JSON")
	}
	b, err := withRawData(envelope, a.raw)
	if err != nil {
		return err
	}
	if _, err := p.stdio.Out.Write(b); err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	return nil
}

// withRawData prints an envelope around data that is already JSON, byte for
// byte: the encoder would respace and escape it.
func withRawData(e contract.Envelope, raw json.RawMessage) ([]byte, error) {
	e.Data = nil
	b, err := compact(e)
	if err != nil {
		return nil, err
	}
	head, tail, found := bytes.Cut(b, []byte(`"ok":true,`))
	if !found {
		return nil, errors.New("the envelope has no place for data")
	}
	return slices.Concat(head, []byte(`"ok":true,"data":`), raw, []byte(","), tail, []byte("\n")), nil
}

func (p *jsonPrinter) failure(command string, _ answer, err error) {
	_ = printLine(p.stdio.Err, contract.Failure(p.version, command, err)) // the exit code is left
}

func printLine(w io.Writer, v any) error {
	b, err := compact(v)
	if err != nil {
		return err
	}
	if _, err := w.Write(append(b, '\n')); err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	return nil
}

// compact gives JSON on one line, with <, > and & as they are.
func compact(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode the answer: %w", err)
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}
