// Package listing reads lists of the services.
package listing

import "iter"

// Pages returns the items of a list, page by page. fetch returns the page that a token names, and the
// token of the next one; the tokens before the first page and after the last are empty. It is called
// when the caller asks for the first item of a page. Its error ends the list.
func Pages[T any](fetch func(token string) (items []T, next string, err error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for token := ""; ; {
			items, next, err := fetch(token)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
			if next == "" {
				return
			}
			token = next
		}
	}
}
