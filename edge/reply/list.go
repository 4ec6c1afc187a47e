package reply

// Reply is a reply that is being written: its document, and the Sink that sends it. It is not
// safe for concurrent use.
type Reply struct {
	Writer
	Sink Sink
}

// Sink sends a document while it is written.
type Sink interface {
	// ItemDone may send the gathered bytes. It is called between two items of a list. An error
	// ends the reply.
	ItemDone() error
	// BatchDone sends the gathered bytes if the reply is already sent in pieces.
	BatchDone() error
	// Wait says that the reply waits for more until Resume. In between, another goroutine may
	// send the gathered bytes.
	Wait()
	// Resume says that the wait is over.
	Resume()
}

// List describes how a list of a reply is written.
type List[Item any] struct {
	// Name is the name of the list. Item is the name of its items, before their position.
	Name, Item string
	WriteItem  func(Writer, Item)
}

// Write writes items whose positions follow position, and returns the last position.
func (l List[Item]) Write(out *Reply, items []Item, position int) (int, error) {
	for _, item := range items {
		position++
		out.BeginItem(l.Item, position)
		l.WriteItem(out.Writer, item)
		out.EndItem(l.Item, position)
		if err := out.Sink.ItemDone(); err != nil {
			return position, err
		}
	}
	return position, out.Sink.BatchDone()
}

// WritePages writes an optional list: the given items, then pages from next until one has no
// page token.
func (l List[Item]) WritePages(
	out *Reply, items []Item, token string, next func(token string) (items []Item, nextToken string, err error),
) error {
	if len(items) == 0 && token == "" {
		return nil
	}
	out.BeginList(l.Name)
	position, err := l.Write(out, items, 0)
	for err == nil && token != "" {
		out.Sink.Wait()
		items, token, err = next(token)
		out.Sink.Resume()
		if err == nil {
			position, err = l.Write(out, items, position)
		}
	}
	out.EndList(l.Name)
	return err
}
