package exit

import "testing"

// Insecure is a runner without boxes, for the tests outside of the package.
func Insecure(t testing.TB) Runner {
	t.Helper()
	return &insecure{t: t}
}
