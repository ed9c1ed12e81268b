package union

import "iter"

// A merged value knows which of the sequences it comes from.
type merged[T any] struct {
	from  int
	value T
}

// merge yields the values of several sorted sequences in order; of equal values, that of
// the earlier sequence comes first. It holds one value of each. The first error ends it;
// from is then the sequence that failed.
func merge[T any](sequences []iter.Seq2[T, error], compare func(a, b T) int) iter.Seq2[merged[T], error] {
	return func(yield func(merged[T], error) bool) {
		type puller struct {
			next  func() (T, error, bool)
			value T
			ok    bool
		}
		pullers := make([]puller, len(sequences))
		advance := func(i int) (err error) {
			p := &pullers[i]
			p.value, err, p.ok = p.next()
			return err
		}
		for i, seq := range sequences {
			next, stop := iter.Pull2(seq)
			defer stop()
			pullers[i].next = next
			if err := advance(i); err != nil {
				yield(merged[T]{from: i}, err)
				return
			}
		}
		for {
			least := -1
			for i := range pullers {
				if pullers[i].ok && (least < 0 || compare(pullers[i].value, pullers[least].value) < 0) {
					least = i
				}
			}
			if least < 0 || !yield(merged[T]{least, pullers[least].value}, nil) {
				return
			}
			if err := advance(least); err != nil {
				yield(merged[T]{from: least}, err)
				return
			}
		}
	}
}
