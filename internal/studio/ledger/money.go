package ledger

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
)

// Micros is money in micro-dollars: 1,000,000 are one US dollar. Money is
// never a float: cents that are lost by rounding are lost by the thousand.
type Micros int64

// Dollar is one US dollar.
const Dollar Micros = 1_000_000

// String gives the amount in dollars, with as many decimals as it has.
func (m Micros) String() string {
	sign, n := "", uint64(m)
	if m < 0 {
		sign, n = "-", uint64(-(m+1))+1
	}
	return fmt.Sprintf("%s$%d.%06d", sign, n/uint64(Dollar), n%uint64(Dollar))
}

// ErrTooMuch says that an amount is negative, or too large to be money.
var ErrTooMuch = errors.New("not an amount of money")

// Cost gives what n units cost at a price for a million of them, rounded up:
// the rounding is ours to pay for, so it goes against the one who spends. A
// negative argument, or a result beyond Micros, is ErrTooMuch.
func Cost(n int64, perMillion Micros) (Micros, error) {
	if n < 0 || perMillion < 0 {
		return 0, ErrTooMuch
	}
	hi, lo := bits.Mul64(uint64(n), uint64(perMillion))
	const million = 1_000_000
	if hi >= million {
		return 0, ErrTooMuch
	}
	quo, rem := bits.Div64(hi, lo, million)
	if rem > 0 {
		quo++
	}
	if quo > math.MaxInt64 {
		return 0, ErrTooMuch
	}
	return Micros(quo), nil
}

// Sum adds amounts. A negative amount, or a sum beyond Micros, is ErrTooMuch.
func Sum(amounts ...Micros) (Micros, error) {
	var sum Micros
	for _, a := range amounts {
		if a < 0 || sum > math.MaxInt64-a {
			return 0, ErrTooMuch
		}
		sum += a
	}
	return sum, nil
}
