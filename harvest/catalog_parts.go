package harvest

import "iter"

// parts yields the values of seq in slices of n, of which the last may be shorter. Each
// is valid during its yield only. An error is the last thing it yields.
func parts[V any](seq iter.Seq2[V, error], n int) iter.Seq2[[]V, error] {
	return func(yield func([]V, error) bool) {
		chunk := make([]V, 0, n)
		for v, err := range seq {
			if err != nil {
				yield(nil, err)
				return
			}
			if chunk = append(chunk, v); len(chunk) < n {
				continue
			}
			if !yield(chunk, nil) {
				return
			}
			chunk = chunk[:0]
		}
		if len(chunk) > 0 {
			yield(chunk, nil)
		}
	}
}
