//go:build !faultpoint

package gateway

// faultpoint is where a test binary (build tag faultpoint) can hold a call
// between two steps. The product's does nothing here.
func faultpoint(string) {}
