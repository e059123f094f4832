package cli

import "testing"

// Recordings must be where the README says, and a relative XDG_STATE_HOME
// counts for nothing, as its specification demands.
func TestRecordingsHome(t *testing.T) {
	tests := []struct {
		env  map[string]string
		want string
	}{
		{map[string]string{"PROOFREEL_HOME": "/a", "XDG_STATE_HOME": "/b", "HOME": "/c"}, "/a"},
		{map[string]string{"XDG_STATE_HOME": "/b", "HOME": "/c"}, "/b/proofreel"},
		{map[string]string{"XDG_STATE_HOME": "b", "HOME": "/c"}, "/c/.local/state/proofreel"},
		{map[string]string{"HOME": "/c"}, "/c/.local/state/proofreel"},
		{map[string]string{}, ""},
	}
	for _, tt := range tests {
		got, err := recordingsHome(func(n string) string { return tt.env[n] })
		if got != tt.want || (err != nil) != (tt.want == "") {
			t.Errorf("%v: got %q, %v", tt.env, got, err)
		}
	}
}
