//go:build !amd64 && !arm64

package sandbox

// machine knows no other processor: no box runs on one.
func machine() (arch, last uint32, numbers map[string]uint32) { return 0, 0, nil }
