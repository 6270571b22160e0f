-- +goose Up
-- Public status pages: what they show, and what people write on them.
CREATE TABLE status_pages (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    slug           TEXT NOT NULL UNIQUE,
    host           TEXT UNIQUE,            -- its own host name; NULL: it has none
    published      BOOLEAN NOT NULL,
    terms          TEXT NOT NULL,          -- JSON: titles, looks, who may see it, groups and components
    version        INTEGER NOT NULL,
    created_at_ms  INTEGER NOT NULL,
    updated_at_ms  INTEGER NOT NULL
);

-- What the components of a page show. A target that is deleted goes from its pages in the
-- same transaction.
CREATE TABLE status_page_targets (
    page_id        INTEGER NOT NULL REFERENCES status_pages(id) ON DELETE CASCADE,
    component_id   INTEGER NOT NULL,            -- within the page
    target_id      INTEGER NOT NULL REFERENCES targets(id) ON DELETE CASCADE,
    PRIMARY KEY (page_id, component_id, target_id)
);
CREATE INDEX status_page_targets_by_target ON status_page_targets(target_id);

-- Incidents and announcements that people write.
CREATE TABLE status_page_posts (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    page_id        INTEGER NOT NULL REFERENCES status_pages(id) ON DELETE CASCADE,
    body           TEXT NOT NULL,          -- JSON: title, kind, impact, components, updates
    begun_at_ms    INTEGER NOT NULL,
    resolved_at_ms INTEGER,                 -- NULL: it goes on
    version        INTEGER NOT NULL
);
CREATE INDEX status_page_posts_by_page ON status_page_posts(page_id, begun_at_ms);

-- +goose Down
DROP TABLE status_page_posts;
DROP TABLE status_page_targets;
DROP TABLE status_pages;
