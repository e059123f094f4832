package gauge

import "slices"

// Spread is the median of a figure over the runs, and its ends.
type Spread struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

// SpreadOf is that of values; zero when there is none.
func SpreadOf(values []float64) Spread {
	if len(values) == 0 {
		return Spread{}
	}
	v := slices.Sorted(slices.Values(values))
	n := len(v)
	return Spread{Median: (v[(n-1)/2] + v[n/2]) / 2, Min: v[0], Max: v[n-1]}
}

// Over is that of one figure of every row.
func Over[T any](rows []T, figure func(T) float64) Spread {
	values := make([]float64, len(rows))
	for i, r := range rows {
		values[i] = figure(r)
	}
	return SpreadOf(values)
}
