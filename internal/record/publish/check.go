package publish

import (
	"context"
	"fmt"
	"os"

	"github.com/proofreel/proofreel/internal/fault"
)

// Check looks whether films can be brought to the target, before there is
// one: the directory is there, or is made now as Publish would make it, and a
// file can be made in it; the CLI of uploads.sh is found. It asks nothing of
// the network, so a sign-in that has ended is not noticed. The error is a
// *fault.Error with the code InvalidValue or MissingTool, or ctx's.
func Check(ctx context.Context, t Target) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("check the publish target: %w", err)
	}
	switch t.Kind {
	case KindDir:
		if err := checkDir(t.Path); err != nil {
			return fault.Wrap(err, fault.InvalidValue, dirAdvice(err, "name a directory that can be written, or leave out --publish"),
				"no film can be published to %s", t)
		}
	case KindUploads:
		if _, err := lookPath("uploads", os.Environ()); err != nil {
			return fault.Wrap(err, fault.MissingTool, getUploads, "no film can be published to uploads.sh")
		}
	case KindNone:
	}
	return nil
}

func checkDir(path string) error {
	if err := os.MkdirAll(path, 0o755); err != nil { //nolint:gosec // what is published is for others to read
		return fmt.Errorf("make the directory: %w", err)
	}
	f, err := os.CreateTemp(path, ".proofreel-check-*")
	if err != nil {
		return fmt.Errorf("create a file in the directory: %w", err)
	}
	_ = f.Close()
	if err := os.Remove(f.Name()); err != nil {
		return fmt.Errorf("remove the file from the directory: %w", err)
	}
	return nil
}
