package httpapi

import (
	"context"
	"net/url"
	"strconv"

	"github.com/probefleet/probefleet/internal/pagestore"
	"github.com/probefleet/probefleet/internal/subscriberstore"
)

// pageCopy is a page as files.
type pageCopy struct {
	MadeAt instant           `json:"made_at"`
	Files  map[string]string `json:"files" doc:"content by name: index.html and all that it leads to"`
}

func (a *api) copyPage(ctx context.Context, in *StatusPagePath) (*struct{ Body pageCopy }, error) {
	made, found := a.PageCopy(ctx, in.ID)
	if !found {
		return nil, pagestore.ErrNotFound
	}
	out := &struct{ Body pageCopy }{pageCopy{instant(made.MadeAt), map[string]string{}}}
	for name, content := range made.Files {
		out.Body.Files[name] = string(content)
	}
	return out, nil
}

// Subscribers keeps who is told what is written on status pages.
type Subscribers interface {
	List(ctx context.Context, pageID, afterID int64, limit int) ([]subscriberstore.Subscriber, error)
	Remove(ctx context.Context, pageID, id int64) error
}

// SubscriberPath names a subscriber of a page in a path.
type SubscriberPath struct {
	ID         int64 `path:"id" minimum:"1"`
	Subscriber int64 `path:"subscriber" minimum:"1"`
}

type subscriberBody struct {
	ID           int64             `json:"id"`
	Kind         string            `json:"kind" enum:"email,webhook"`
	To           string            `json:"to" doc:"the address of e-mail, or the host of a webhook: what is behind that may be a secret"`
	Language     string            `json:"language"`
	ComponentIDs []int64           `json:"component_ids" nullable:"false" doc:"empty: all"`
	CreatedAt    instant           `json:"created_at"`
	ConfirmedAt  nullable[instant] `json:"confirmed_at" doc:"null: nothing but a request to confirm was sent, and it is forgotten after 48 hours"`
}

func subscriberOf(s subscriberstore.Subscriber) subscriberBody {
	to := s.Terms.Address.Reveal()
	if s.Kind == subscriberstore.Webhook {
		if u, err := url.Parse(to); err == nil {
			to = u.Host
		}
	}
	return subscriberBody{ID: s.ID, Kind: s.Kind, To: to, Language: s.Terms.Language, ComponentIDs: orEmpty(s.Components), CreatedAt: instant(s.CreatedAt), ConfirmedAt: maybeInstant(s.ConfirmedAt)}
}

func (a *api) listSubscribers(ctx context.Context, in *struct {
	StatusPagePath
	Page
}) (*listOutput[subscriberBody], error) {
	after, err := readIDCursor(in.Cursor)
	if err != nil {
		return nil, err
	}
	if _, err := a.StatusPages.Get(ctx, in.ID); err != nil {
		return nil, err
	}
	found, err := a.Subscribers.List(ctx, in.ID, after, in.Limit+1)
	if err != nil {
		return nil, err
	}
	return pageOf(found, in.Limit, subscriberOf, func(s subscriberstore.Subscriber) int64 { return s.ID }), nil
}

func (a *api) deleteSubscriber(ctx context.Context, in *SubscriberPath) (*noContent, error) {
	if err := a.Subscribers.Remove(ctx, in.ID, in.Subscriber); err != nil {
		return nil, err
	}
	a.audit(ctx, "status-subscriber.deleted", pageObject(in.ID)+"/subscriber:"+strconv.FormatInt(in.Subscriber, 10), "")
	return nil, nil
}
