package serve

import (
	"context"
	"slices"

	"github.com/waybook/waybook/internal/content/aliases"
	"github.com/waybook/waybook/internal/id"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// locate gives units their identifiers and finds those that are stored. It refuses those that
// cannot be. It returns the new aliases, and the old identifiers of what was deleted and comes back.
func (m *Mover[P, C]) locate(
	ctx context.Context, options *typev1.MoveOptions, records []*Record[P, C], units []*unit[P],
) (located map[string]int64, revived []string, err error) {
	units = append([]*unit[P](nil), units...)
	oldIDs := make([]string, len(units))
	for i, u := range units {
		oldIDs[i] = u.oldID
	}
	known, gone, err := m.Kind.Aliases.OfManyOrGone(ctx, oldIDs)
	if err != nil {
		return nil, nil, err
	}
	for _, u := range units {
		switch {
		case !m.Kind.Small.Admits(u.oldID):
			u.refuse("ID_NOT_SMALL", m.Kind.Small.NotAdmitted())
		case gone[u.oldID] && !options.GetRevive():
			u.refuseDeleted()
		}
	}
	units = open(units)
	if err := m.requireOwners(ctx, records, units); err != nil {
		return nil, nil, err
	}
	located, taken := map[string]int64{}, map[int64]bool{}
	for probe, left := 0, open(slices.Clone(units)); len(left) > 0; probe++ {
		if probe == id.Probes {
			for _, u := range left {
				u.refuse("ID_TAKEN", "other content has all identifiers that this old identifier could have")
			}
			break
		}
		if left, err = m.locateAt(ctx, records, left, known, located, taken, probe); err != nil {
			return nil, nil, err
		}
	}
	for _, u := range open(units) {
		if gone[u.oldID] {
			revived = append(revived, u.oldID)
		}
	}
	return located, revived, nil
}

func (m *Mover[P, C]) requireOwners(ctx context.Context, records []*Record[P, C], units []*unit[P]) error {
	owners := make([]int64, len(units))
	for i, u := range units {
		owners[i] = records[u.n].OwnerID
	}
	missing, err := m.Profiles.Missing(ctx, owners)
	if err != nil {
		return err
	}
	for i, u := range units {
		if missing[owners[i]] {
			u.refuse("USER_NOT_FOUND", "there is no such owner")
		}
	}
	return nil
}

// locateAt locates units at a probe and returns those whose identifiers are taken there.
func (m *Mover[P, C]) locateAt(
	ctx context.Context, records []*Record[P, C], units []*unit[P], known, located map[string]int64, taken map[int64]bool, probe int,
) (others []*unit[P], err error) {
	ids := make([]int64, 0, len(units))
	for _, u := range units {
		place := m.Content.PlaceOf(records[u.n].OwnerID, aliases.RequestPrefix+u.oldID)
		if aliased, ok := known[u.oldID]; ok {
			u.id, u.isKnown = aliased, true
		} else {
			u.id = m.idOf(u.oldID, place, probe)
		}
		ids = append(ids, u.id)
	}
	found, gone, err := m.Kind.Documents.GetManyOrGone(ctx, ids)
	if err != nil {
		return nil, err
	}
	present := make(map[int64]P, len(found))
	for _, document := range found {
		present[m.Kind.ID(&document)] = document
	}
	for _, u := range units {
		key := aliases.RequestPrefix + u.oldID
		stored, isStored := present[u.id]
		isOther := taken[u.id] || isStored && m.Kind.RequestKey(&stored) != key && id.IsMoved(u.id)
		if !isOther && !isStored && aliases.IsText(u.id) {
			if isOther, err = m.Kind.Aliases.IsTaken(ctx, u.id, u.oldID); err != nil {
				return nil, err
			}
		}
		switch {
		case isOther && !u.isKnown && aliases.IsText(u.id):
			others = append(others, u)
			continue
		case isOther:
			u.refuse("ID_TAKEN", "other content has the identifier that follows from this old identifier")
			continue
		case isStored && m.Kind.Owner(&stored) != records[u.n].OwnerID,
			id.PlaceOf(u.id) != m.Content.PlaceOf(records[u.n].OwnerID, key) && id.IsMoved(u.id):
			u.refuse("OWNER_CHANGED", "it was moved in for another owner, and its identifier names the place of that user; keep that owner in the files, or give it another identifier")
			continue
		case gone[u.id]:
			u.refuseDeleted()
			continue
		case isStored:
			u.stored = &stored
		}
		taken[u.id] = true
		m.Content.Identify(u.document, u.id, key)
		if _, isKnown := known[u.oldID]; !isKnown && id.IsMoved(u.id) {
			located[u.oldID] = u.id
		}
	}
	return others, nil
}

// idOf returns the identifier of what has an old identifier, in a place. An identifier that Waybook
// drew in that place stays, so that an export can be moved in again.
func (m *Mover[P, C]) idOf(oldID string, place id.Place, probe int) int64 {
	return idOf(oldID, place, probe, func(number int64) bool { return id.IsDrawn(number, m.Now()) })
}

func idOf(oldID string, place id.Place, probe int, isDrawn func(int64) bool) int64 {
	number, isNumber := id.ParseOld(oldID)
	switch {
	case isNumber && number <= id.MaxOld:
		return id.OfOld(number, place)
	case isNumber && id.PlaceOf(number) == place && isDrawn(number):
		return number
	}
	return id.OfOldText(oldID, place, probe)
}
