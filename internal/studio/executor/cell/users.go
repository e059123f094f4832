package cell

import (
	"errors"
	"fmt"
	osuser "os/user"
	"path/filepath"
	"strconv"

	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/internal/host/statefile"
	"github.com/proofreel/proofreel/internal/studio/executor"
)

// The users that boxes run under when we are root: no account has them on
// usual machines, and no two boxes at a time.
const (
	firstUser = 2001
	users     = 500
)

// user is a user id that is held for one box.
type user struct {
	id   int
	lock *statefile.Lock
}

// takeUser takes a free user: one that is no account, whose lock nobody holds
// and that no process has. A lock alone would not do: a box that outlived its server still runs
// under its user.
func (h *Host) takeUser() (*user, error) {
	for id := firstUser; id < firstUser+users; id++ {
		if _, err := osuser.LookupId(strconv.Itoa(id)); err == nil {
			continue // somebody's account
		}
		lock, err := statefile.TryLock(filepath.Join(h.usersDir(), strconv.Itoa(id)+".lock"))
		if errors.Is(err, statefile.ErrLocked) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", executor.ErrUnavailable, err)
		}
		if len(proc.OfUser(id)) == 0 {
			return &user{id, lock}, nil
		}
		lock.Unlock()
	}
	return nil, fmt.Errorf("%w: all %d users are taken", executor.ErrUnavailable, users)
}

func (u *user) free() {
	if u != nil {
		u.lock.Unlock()
	}
}
