package movein

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/waybook/waybook/internal/content/aliases"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
)

// newContent returns the item of a record of content.
func (m *Mover[P]) newContent(record *moveinv1.Record, result *moveinv1.Result) *item[P] {
	each := &item[P]{record: record, result: result, document: m.Content.Document(record)}
	each.oldID = cmp.Or(record.GetAlbum().GetId(), record.GetEntry().GetId(), record.GetLandmark().GetId())
	each.place = m.PlaceOf(m.Kind.Owner(&each.document), aliases.RequestPrefix+each.oldID)
	return each
}

// store stores content that is not there, with its aliases.
func (m *Mover[P]) store(ctx context.Context, items []*item[P], isDry bool) error {
	if len(items) == 0 {
		return nil
	}
	oldIDs := make([]string, len(items))
	for i, each := range items {
		oldIDs[i] = each.oldID
	}
	known, gone, err := m.Kind.Aliases.OfManyOrGone(ctx, oldIDs)
	if err != nil {
		return err
	}
	for _, each := range items {
		switch each.id = known[each.oldID]; {
		case gone[each.oldID]:
			each.setDeleted()
		case !m.Kind.Small.Admits(each.oldID):
			each.refuse("ID_NOT_SMALL", "%s", m.Kind.Small.NotAdmitted())
		}
	}
	items = open(items)
	documents := table[P]{m.Kind.Documents, m.Content, m.Kind.RequestKey}
	if err := documents.locate(ctx, items); err != nil {
		return err
	}
	items = open(items)
	if err := m.requireOwners(ctx, items); err != nil {
		return err
	}
	if err := m.link(ctx, items); err != nil {
		return err
	}
	items = open(items)
	located := map[string]int64{}
	for _, each := range items {
		if known[each.oldID] == 0 {
			located[each.oldID] = each.id
		}
	}
	if !isDry {
		if err := m.Kind.Aliases.Add(ctx, located); err != nil {
			return err
		}
	}
	return documents.insert(ctx, items, isDry)
}

// requireOwners refuses content that is not stored and whose owner does not exist, or is another
// one than that of a call that ended early. What was deleted a short time ago counts as deleted.
func (m *Mover[P]) requireOwners(ctx context.Context, items []*item[P]) error {
	var owners, ids []int64
	for _, each := range items {
		if each.stored == nil {
			owners, ids = append(owners, m.Kind.Owner(&each.document)), append(ids, each.id)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	missing, err := m.Profiles.Missing(ctx, owners)
	if err != nil {
		return err
	}
	gone, err := m.Kind.Documents.Deleted(ctx, ids)
	if err != nil {
		return err
	}
	for _, each := range items {
		switch {
		case each.stored != nil:
		case gone[each.id] != 0:
			each.setDeleted()
		case id.PlaceOf(each.id) != each.place:
			each.refuse("ID_TAKEN", "an earlier call began to store it for another owner; keep that owner, or give "+
				"it another identifier")
		case missing[m.Kind.Owner(&each.document)]:
			each.refuse("USER_NOT_FOUND", "there is no user %d", m.Kind.Owner(&each.document))
		}
	}
	return nil
}

// link gives content the identifiers of what it quotes, and refuses it if that is not there.
func (m *Mover[P]) link(ctx context.Context, items []*item[P]) error {
	var quoted []string
	here := map[string]int64{}
	for _, each := range items {
		here[each.oldID] = each.id
		if entry := each.record.GetEntry(); entry.GetQuotedId() != "" {
			quoted = append(quoted, entry.GetQuotedId())
		}
	}
	if len(quoted) == 0 {
		return nil
	}
	known, err := m.Kind.Aliases.OfMany(ctx, quoted)
	if err != nil {
		return err
	}
	for _, each := range items {
		oldID := each.record.GetEntry().GetQuotedId()
		quotedID := cmp.Or(known[oldID], here[oldID])
		switch {
		case oldID == "":
		case quotedID == 0:
			each.refuse(m.Kind.NotFound(0).Reason, "the quoted entry %s is not there", oldID)
		default:
			m.SetQuoted(&each.document, quotedID, oldID)
		}
	}
	return nil
}

// resolve gives items their parents, and refuses those whose parent is not there.
func resolve[P, D any](ctx context.Context, m *Mover[P], items []*item[D]) (parents map[int64]*P, err error) {
	oldIDs := map[string]bool{}
	for _, each := range items {
		oldIDs[each.parentOldID] = true
	}
	known, gone, err := m.Kind.Aliases.OfManyOrGone(ctx, slices.Collect(maps.Keys(oldIDs)))
	if err != nil {
		return nil, err
	}
	found, err := m.Kind.Documents.GetMany(ctx, slices.Collect(maps.Values(known)), docstore.Durable)
	if err != nil {
		return nil, err
	}
	parents = make(map[int64]*P, len(found))
	for i := range found {
		parents[m.Kind.ID(&found[i])] = &found[i]
	}
	var missing []int64
	for _, id := range known {
		if parents[id] == nil {
			missing = append(missing, id)
		}
	}
	dead, err := m.Kind.Documents.Deleted(ctx, missing)
	if err != nil {
		return nil, err
	}
	for oldID := range oldIDs {
		if gone[oldID] || dead[known[oldID]] != 0 || parents[known[oldID]] != nil {
			continue
		}
		// These reads may miss what was stored a moment ago, and a refusal is for good.
		parent, err := m.latest(ctx, oldID)
		if err == nil {
			known[oldID] = m.Kind.ID(&parent)
			parents[known[oldID]] = &parent
		} else if !errors.Is(err, docstore.ErrNotFound) {
			return nil, err
		}
	}
	for _, each := range items {
		each.parentID = known[each.parentOldID]
		each.place = id.PlaceOf(each.parentID)
		switch {
		case gone[each.parentOldID], dead[each.parentID] != 0:
			each.setDeleted()
		case parents[each.parentID] == nil:
			each.refuse(m.Kind.NotFound(0).Reason, "the %s %s is not there", m.Name, each.parentOldID)
		}
	}
	return parents, nil
}

// latest returns content by its old identifier, in a state that no later failure undoes. Errors:
// docstore.ErrNotFound.
func (m *Mover[P]) latest(ctx context.Context, oldID string) (found P, err error) {
	contentID, err := m.Kind.Aliases.Latest(ctx, oldID)
	if err != nil {
		return found, err
	}
	return m.Kind.Documents.Get(ctx, contentID, docstore.Linearizable)
}
